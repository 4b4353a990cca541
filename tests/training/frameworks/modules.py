"""The torch module of a shape, its blocks, and a batch for it."""

import torch
from torch import nn

from commbench.training.architectures import Gpt, Llama
from tests.training.frameworks.gpt import GptModel
from tests.training.frameworks.llama import LlamaModel


def module_of(shape: Llama | Gpt, dtype: torch.dtype = torch.float32) -> nn.Module:
    """A model that registers exactly the shape's parameters and returns a loss."""
    return LlamaModel(shape, dtype) if isinstance(shape, Llama) else GptModel(shape, dtype)


def blocks_of(module: nn.Module) -> list[nn.Module]:
    """The repeated layers of such a model."""
    return list(next(each for each in module.modules() if isinstance(each, nn.ModuleList)))


def batch(shape: Llama | Gpt) -> torch.Tensor:
    """A few tokens: (2, 4)."""
    return torch.arange(8).remainder(shape.vocabulary).view(2, 4)
