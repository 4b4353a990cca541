"""A GPT-shaped module in plain torch, with the modules, names, shapes and order of Hugging Face's GPT-2."""

import torch
from torch import nn
from torch.nn import functional

from commbench.training.architectures import Gpt


class Convolution(nn.Module):
    """GPT-2's linear layer, which holds its weight transposed."""

    def __init__(self, inputs: int, outputs: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(inputs, outputs) / inputs)
        self.bias = nn.Parameter(torch.zeros(outputs))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (batch, tokens, inputs)."""
        return torch.addmm(self.bias, x.flatten(0, -2), self.weight).view(*x.shape[:-1], -1)


class Attention(nn.Module):
    """Attention with one head, which is enough here."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.c_attn = Convolution(hidden, 3 * hidden)
        self.c_proj = Convolution(hidden, hidden)
        self.resid_dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (batch, tokens, hidden)."""
        q, k, v = self.c_attn(x).chunk(3, -1)
        output: torch.Tensor = self.resid_dropout(self.c_proj((q @ k.transpose(-1, -2)).softmax(-1) @ v))
        return output


class Mlp(nn.Module):
    """The feed-forward part."""

    def __init__(self, shape: Gpt) -> None:
        super().__init__()
        self.c_fc = Convolution(shape.hidden, shape.intermediate)
        self.c_proj = Convolution(shape.intermediate, shape.hidden)
        self.act = nn.GELU()
        self.dropout = nn.Dropout(0.1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (batch, tokens, hidden)."""
        output: torch.Tensor = self.dropout(self.c_proj(self.act(self.c_fc(x))))
        return output


class Block(nn.Module):
    """One block."""

    def __init__(self, shape: Gpt) -> None:
        super().__init__()
        self.ln_1 = nn.LayerNorm(shape.hidden)
        self.attn = Attention(shape.hidden)
        self.ln_2 = nn.LayerNorm(shape.hidden)
        self.mlp = Mlp(shape)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """x: (batch, tokens, hidden)."""
        x = x + self.attn(self.ln_1(x))
        output: torch.Tensor = x + self.mlp(self.ln_2(x))
        return output


class Body(nn.Module):
    """Everything but the output projection."""

    def __init__(self, shape: Gpt) -> None:
        super().__init__()
        self.wte = nn.Embedding(shape.vocabulary, shape.hidden)
        self.wpe = nn.Embedding(shape.positions, shape.hidden)
        self.drop = nn.Dropout(0.1)
        self.h = nn.ModuleList(Block(shape) for _ in range(shape.layers))
        self.ln_f = nn.LayerNorm(shape.hidden)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """tokens: (batch, tokens) of integers."""
        x = self.drop(self.wte(tokens) + self.wpe(torch.arange(tokens.shape[1])))
        for block in self.h:
            x = block(x)
        output: torch.Tensor = self.ln_f(x)
        return output


class GptModel(nn.Module):
    """A language model of this shape."""

    def __init__(self, shape: Gpt, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.transformer = Body(shape)
        self.lm_head = nn.Linear(shape.hidden, shape.vocabulary, bias=False)
        if shape.tied:
            self.lm_head.weight = self.transformer.wte.weight
        self.to(dtype)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """The loss of predicting tokens from themselves."""
        logits: torch.Tensor = self.lm_head(self.transformer(tokens))
        return functional.cross_entropy(logits.flatten(0, 1).float(), tokens.flatten())
