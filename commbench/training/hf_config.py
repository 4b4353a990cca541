"""Model shapes from a Hugging Face config.json.

Understood are decoders shaped like Llama (Llama, Mistral, Qwen2 and 3, Gemma, Phi-3 and others that use its keys) and
GPT-2. Mixtures of experts and models with parts beside the decoder are refused: their parameters do not follow from
these keys.
"""

from pathlib import Path
from typing import Any

import msgspec

from commbench.errors import UsageError
from commbench.training.architectures import Gpt, Llama
from commbench.training.shapes import Shapes

_EXPERTS = ("num_local_experts", "num_experts", "n_routed_experts", "moe_num_experts")
_NESTED = ("text_config", "vision_config", "encoder", "decoder")
_LLAMA_KEYS = ("hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "vocab_size")
_GPT_KEYS = ("n_embd", "n_layer", "vocab_size", "n_positions")
_QKV_BIAS = ("qwen2",)  # model types whose q, k and v have a bias that no key mentions
_QK_NORM = ("qwen3",)
_TIED = ("gemma", "gemma2")  # tied where the config does not say
_FEW = 10**7  # no length of a model is larger; what is, is not a config


def shapes_of_file(path: str) -> Shapes:
    """The shapes of the model that a config.json describes.

    Args:
        path: the file, or the folder that holds it as config.json.

    Raises:
        UsageError: for a file that cannot be read, is no JSON object, lacks a length, or describes a model whose
            parameters do not follow from such lengths.
    """
    place = Path(path)
    try:
        place = place / "config.json" if place.is_dir() else place
        config = msgspec.json.decode(place.read_bytes())
    except (OSError, ValueError, msgspec.DecodeError, RecursionError) as error:
        raise _refused(path, "a Hugging Face config.json", _reason(error)) from None
    if not isinstance(config, dict):
        raise _refused(path, "a JSON object", f"JSON of another kind ({type(config).__name__})")
    return _shapes(path, config)


def _shapes(path: str, config: dict[str, Any]) -> Shapes:
    for key in (*_EXPERTS, *_NESTED):
        if config.get(key) not in (None, 0, 1, False):
            kind = "a mixture of experts" if key in _EXPERTS else "a model of several parts"
            raise _refused(path, "one dense decoder", f"{kind} ({key} in the config)")
    family = str(config.get("model_type") or "")
    name = str(config.get("_name_or_path") or "") or f"{family or 'model'} of {Path(path).name}"
    if "hidden_size" not in config and "n_embd" in config:
        return _gpt(path, config).shapes(name, path)
    assumptions = [] if family in ("llama", "mistral") else ["the model has Llama's parameters, in Llama's order"]
    return _llama(path, config, family).shapes(name, path, assumptions)


def _llama(path: str, config: dict[str, Any], family: str) -> Llama:
    hidden, intermediate, layers, heads, vocabulary = (_length(path, config, key) for key in _LLAMA_KEYS)
    kv_heads = _length(path, config, "num_key_value_heads", heads)
    head = _length(path, config, "head_dim", max(1, hidden // heads))
    if config.get("head_dim") is None and hidden % heads:
        raise _refused(path, "a hidden_size that the heads divide", f"hidden_size {hidden} with {heads} heads")
    if kv_heads > heads or heads % kv_heads:
        raise _refused(path, "a number of heads that the kv heads divide", f"{heads} heads with {kv_heads} kv heads")
    attention_bias = _switch(path, config, "attention_bias", family in _QKV_BIAS)
    return Llama(
        hidden, intermediate, layers, heads, kv_heads, vocabulary, head,
        tied=_switch(path, config, "tie_word_embeddings", family in _TIED),
        qkv_bias=attention_bias,
        output_bias=attention_bias and family not in _QKV_BIAS,
        mlp_bias=_switch(path, config, "mlp_bias", False),
        qk_norm=family in _QK_NORM,
    )  # fmt: skip


def _gpt(path: str, config: dict[str, Any]) -> Gpt:
    hidden, layers, vocabulary, positions = (_length(path, config, key) for key in _GPT_KEYS)
    intermediate = _length(path, config, "n_inner", 4 * hidden)
    tied = _switch(path, config, "tie_word_embeddings", True)
    return Gpt(hidden, intermediate, layers, vocabulary, positions, tied)


def _length(path: str, config: dict[str, Any], key: str, default: int | None = None) -> int:
    value = config.get(key)
    value = default if value is None else value
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= _FEW:
        raise _refused(path, f"{key} as a whole number of 1 to {_FEW}", "no such key" if value is None else repr(value))
    return value


def _switch(path: str, config: dict[str, Any], key: str, default: bool) -> bool:
    value = config.get(key)
    if value is not None and not isinstance(value, bool):
        raise _refused(path, f"{key} as true or false", repr(value))
    return default if value is None else value


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or f"not JSON ({error})"


def _refused(path: str, expected: str, found: str) -> UsageError:
    return UsageError(
        f"no model can be read from {path}", expected=expected, found=found[:200],
        fix="give the config.json of a dense decoder, or --parameters 7e9 --layers 32",
    )  # fmt: skip
