"""A Llama-shaped module in plain torch, with the names, shapes and order of our `tiny` model; it runs on CPUs.

It computes something of the right form, with the modules of Hugging Face's implementation, those without parameters
too: DeepSpeed acts at each of them.
"""

from typing import Any

import torch
from torch import nn
from torch.nn import functional

from commbench.training.architectures import Llama


class Norm(nn.Module):
    """Root-mean-square norm."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (..., hidden)."""
        return self.weight * (x * torch.rsqrt(x.float().pow(2).mean(-1, keepdim=True) + 1e-6).to(x.dtype))


class Rotary(nn.Module):
    """Angles of the positions; it has no parameters and needs no gradient."""

    @torch.no_grad()
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (batch, tokens, hidden). Returns (tokens, 1)."""
        return torch.arange(x.shape[1], dtype=torch.float32).cos().to(x.dtype).unsqueeze(1)


class Attention(nn.Module):
    """Causal attention with grouped keys and values."""

    def __init__(self, shape: Llama) -> None:
        super().__init__()
        self.head = shape.head_dim or shape.hidden // shape.heads
        queries, keys = shape.heads * self.head, shape.kv_heads * self.head
        self.q_proj = nn.Linear(shape.hidden, queries, bias=shape.qkv_bias)
        self.k_proj = nn.Linear(shape.hidden, keys, bias=shape.qkv_bias)
        self.v_proj = nn.Linear(shape.hidden, keys, bias=shape.qkv_bias)
        self.o_proj = nn.Linear(queries, shape.hidden, bias=shape.output_bias)

    def forward(self, x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        """x: (batch, tokens, hidden)."""
        q, k, v = (
            projection(x).unflatten(-1, (-1, self.head)).transpose(1, 2)
            for projection in (self.q_proj, self.k_proj, self.v_proj)
        )
        repeats = q.shape[1] // k.shape[1]
        k, v = k.repeat_interleave(repeats, 1), v.repeat_interleave(repeats, 1)
        scores = ((q * angles) @ k.transpose(-1, -2) / self.head**0.5).softmax(-1)
        output: torch.Tensor = self.o_proj((scores @ v).transpose(1, 2).flatten(2))
        return output


class Mlp(nn.Module):
    """The gated feed-forward part."""

    def __init__(self, shape: Llama) -> None:
        super().__init__()
        self.gate_proj = nn.Linear(shape.hidden, shape.intermediate, bias=shape.mlp_bias)
        self.up_proj = nn.Linear(shape.hidden, shape.intermediate, bias=shape.mlp_bias)
        self.down_proj = nn.Linear(shape.intermediate, shape.hidden, bias=shape.mlp_bias)
        self.act_fn = nn.SiLU()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (..., hidden)."""
        output: torch.Tensor = self.down_proj(self.act_fn(self.gate_proj(x)) * self.up_proj(x))
        return output


class Layer(nn.Module):
    """One block."""

    def __init__(self, shape: Llama) -> None:
        super().__init__()
        self.self_attn = Attention(shape)
        self.mlp = Mlp(shape)
        self.input_layernorm = Norm(shape.hidden)
        self.post_attention_layernorm = Norm(shape.hidden)

    def forward(self, x: torch.Tensor, angles: torch.Tensor) -> torch.Tensor:
        """x: (batch, tokens, hidden)."""
        x = x + self.self_attn(self.input_layernorm(x), angles)
        output: torch.Tensor = x + self.mlp(self.post_attention_layernorm(x))
        return output


class Body(nn.Module):
    """Everything but the output projection."""

    def __init__(self, shape: Llama) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(shape.vocabulary, shape.hidden)
        self.layers = nn.ModuleList(Layer(shape) for _ in range(shape.layers))
        self.norm = Norm(shape.hidden)
        self.rotary_emb = Rotary()

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: (batch, tokens) of integers."""
        x = self.embed_tokens(tokens)
        angles = self.rotary_emb(x)
        for layer in self.layers:
            x = layer(x, angles)
        output: torch.Tensor = self.norm(x)
        return output


class LlamaModel(nn.Module):
    """A language model of this shape."""

    def __init__(self, shape: Llama, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.model = Body(shape)
        self.lm_head = nn.Linear(shape.hidden, shape.vocabulary, bias=False)
        if shape.tied:
            self.lm_head.weight = self.model.embed_tokens.weight
        self.to(dtype)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """The loss of predicting tokens from themselves, which is enough to have gradients."""
        logits: Any = self.lm_head(self.model(tokens))
        return functional.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())
