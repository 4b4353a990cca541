"""Known architectures as parameter lists: Llama's and GPT's, with the published sizes.

Names and registration order are those of Hugging Face's implementations (transformers, models/llama/modeling_llama.py
and models/gpt2/modeling_gpt2.py), because frameworks bucket by that order.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from commbench.errors import UsageError
from commbench.training.shapes import Parameter, Shapes


@dataclass(frozen=True)
class Llama:
    """A Llama-shaped decoder; lengths in elements.

    Attributes:
        heads, kv_heads: query heads, and key and value heads (fewer with grouped-query attention).
        head_dim: elements of one head; hidden / heads where None.
        tied: the output projection is the embedding.
        qkv_bias, output_bias, mlp_bias: which linear layers have a bias.
        qk_norm: queries and keys are normalised per head.
    """

    hidden: int
    intermediate: int
    layers: int
    heads: int
    kv_heads: int
    vocabulary: int
    head_dim: int | None = None
    tied: bool = False
    qkv_bias: bool = False
    output_bias: bool = False
    mlp_bias: bool = False
    qk_norm: bool = False

    def shapes(self, name: str, source: str, assumptions: Iterable[str] = ()) -> Shapes:
        """The parameters that this architecture registers, and the order it uses them in."""
        head = self.head_dim or self.hidden // self.heads
        queries, keys = self.heads * head, self.kv_heads * head
        parameters = [Parameter("model.embed_tokens.weight", (self.vocabulary, self.hidden))]
        executed = ["", "model", "model.embed_tokens", "model.rotary_emb"]
        blocks = tuple(f"model.layers.{layer}" for layer in range(self.layers))
        for block in blocks:
            for linear, outputs, inputs, bias in (
                ("self_attn.q_proj", queries, self.hidden, self.qkv_bias),
                ("self_attn.k_proj", keys, self.hidden, self.qkv_bias),
                ("self_attn.v_proj", keys, self.hidden, self.qkv_bias),
                ("self_attn.o_proj", self.hidden, queries, self.output_bias),
            ):
                parameters += _linear(f"{block}.{linear}", outputs, inputs, bias)
            if self.qk_norm:
                parameters += [Parameter(f"{block}.self_attn.{norm}.weight", (head,)) for norm in ("q_norm", "k_norm")]
            for linear, outputs, inputs in (
                ("mlp.gate_proj", self.intermediate, self.hidden),
                ("mlp.up_proj", self.intermediate, self.hidden),
                ("mlp.down_proj", self.hidden, self.intermediate),
            ):
                parameters += _linear(f"{block}.{linear}", outputs, inputs, self.mlp_bias)
            norms = ("input_layernorm", "post_attention_layernorm")
            parameters += [Parameter(f"{block}.{norm}.weight", (self.hidden,)) for norm in norms]
            executed += [block, *(f"{block}.{module}" for module in self._executed_in_block())]
        parameters.append(Parameter("model.norm.weight", (self.hidden,)))
        if not self.tied:
            parameters.append(Parameter("lm_head.weight", (self.vocabulary, self.hidden)))
        executed += ["model.norm", "lm_head"]
        return Shapes(
            name, source, tuple(parameters), tuple(executed), blocks, lookups=("model.embed_tokens",),
            tied={"lm_head": "model.embed_tokens"} if self.tied else {}, constants=("model.rotary_emb",),
            assumptions=tuple(assumptions),
        )  # fmt: skip

    def _executed_in_block(self) -> tuple[str, ...]:
        queries = ("self_attn.q_proj", "self_attn.q_norm") if self.qk_norm else ("self_attn.q_proj",)
        keys = ("self_attn.k_proj", "self_attn.k_norm") if self.qk_norm else ("self_attn.k_proj",)
        attention = ("input_layernorm", "self_attn", *queries, *keys, "self_attn.v_proj", "self_attn.o_proj")
        feed_forward = ("mlp", "mlp.gate_proj", "mlp.act_fn", "mlp.up_proj", "mlp.down_proj")
        return (*attention, "post_attention_layernorm", *feed_forward)


@dataclass(frozen=True)
class Gpt:
    """A GPT-2- or GPT-3-shaped decoder, with biases everywhere and learned positions; lengths in elements."""

    hidden: int
    intermediate: int
    layers: int
    vocabulary: int
    positions: int
    tied: bool = True

    def shapes(self, name: str, source: str, assumptions: Iterable[str] = ()) -> Shapes:
        """The parameters that this architecture registers, and the order it uses them in."""
        hidden, blocks = self.hidden, tuple(f"transformer.h.{layer}" for layer in range(self.layers))
        parameters = [
            Parameter("transformer.wte.weight", (self.vocabulary, hidden)),
            Parameter("transformer.wpe.weight", (self.positions, hidden)),
        ]
        executed = ["", "transformer", "transformer.wte", "transformer.wpe", "transformer.drop"]
        for block in blocks:
            parameters += [
                *_norm(f"{block}.ln_1", hidden),
                *_convolution(f"{block}.attn.c_attn", hidden, 3 * hidden),
                *_convolution(f"{block}.attn.c_proj", hidden, hidden),
                *_norm(f"{block}.ln_2", hidden),
                *_convolution(f"{block}.mlp.c_fc", hidden, self.intermediate),
                *_convolution(f"{block}.mlp.c_proj", self.intermediate, hidden),
            ]
            executed += [block, *(f"{block}.{module}" for module in _GPT_BLOCK)]
        parameters += _norm("transformer.ln_f", hidden)
        if not self.tied:
            parameters.append(Parameter("lm_head.weight", (self.vocabulary, hidden)))
        executed += ["transformer.ln_f", "lm_head"]
        return Shapes(
            name, source, tuple(parameters), tuple(executed), blocks, lookups=("transformer.wte", "transformer.wpe"),
            tied={"lm_head": "transformer.wte"} if self.tied else {}, assumptions=tuple(assumptions),
        )  # fmt: skip


_GPT_BLOCK = (
    "ln_1", "attn", "attn.c_attn", "attn.c_proj", "attn.resid_dropout",
    "ln_2", "mlp", "mlp.c_fc", "mlp.act", "mlp.c_proj", "mlp.dropout",
)  # fmt: skip


def _linear(module: str, outputs: int, inputs: int, bias: bool) -> list[Parameter]:
    weight = Parameter(f"{module}.weight", (outputs, inputs))
    return [weight, Parameter(f"{module}.bias", (outputs,))] if bias else [weight]


def _convolution(module: str, inputs: int, outputs: int) -> list[Parameter]:
    """GPT-2's linear layer, which holds its weight transposed."""
    return [Parameter(f"{module}.weight", (inputs, outputs)), Parameter(f"{module}.bias", (outputs,))]


def _norm(module: str, hidden: int) -> list[Parameter]:
    return [Parameter(f"{module}.weight", (hidden,)), Parameter(f"{module}.bias", (hidden,))]


_LLAMA2, _LLAMA3 = "Llama 2, arXiv 2307.09288", "Llama 3, arXiv 2407.21783"
_GPT3 = "GPT-3, arXiv 2005.14165, table 2.1"
MODELS: dict[str, tuple[Llama | Gpt, str]] = {
    "llama2-7b": (Llama(4096, 11008, 32, 32, 32, 32000), _LLAMA2),
    "llama2-13b": (Llama(5120, 13824, 40, 40, 40, 32000), _LLAMA2),
    "llama2-70b": (Llama(8192, 28672, 80, 64, 8, 32000), _LLAMA2),
    "llama3-8b": (Llama(4096, 14336, 32, 32, 8, 128256), _LLAMA3),
    "llama3-70b": (Llama(8192, 28672, 80, 64, 8, 128256), _LLAMA3),
    "llama3-405b": (Llama(16384, 53248, 126, 128, 8, 128256), _LLAMA3),
    "gpt3-175b": (Gpt(12288, 49152, 96, 50257, 2048), _GPT3),
    "tiny": (Llama(64, 176, 2, 4, 2, 256), "for tests and replays: Llama-shaped, two layers"),
}


def named(text: str) -> Shapes:
    """The shapes of a model of `MODELS`; case, `-`, `_`, `meta-` and `-hf` do not matter, and Llama 3.1 and 3.3 are 3.

    Raises:
        UsageError: for a name that is not known.
    """
    plain = re.sub(r"[-_ ]", "", text.lower()).removeprefix("meta").removesuffix("hf")
    word = re.sub(r"^llama3\.[13](?=\d)", "llama3", plain)
    for name, (architecture, source) in MODELS.items():
        if word == name.replace("-", ""):
            return architecture.shapes(name, source)
    raise UsageError(
        "an unknown model was asked for",
        expected=", ".join(MODELS),
        found=repr(text),
        fix="use one of these, a Hugging Face config (--model path/config.json), or --parameters 7e9 --layers 32",
    )
