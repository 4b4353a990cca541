"""A model of which only the size is known: Llama-2's proportions, and exactly the parameters that were asked for."""

import re
from dataclasses import replace
from fractions import Fraction

from commbench.errors import UsageError
from commbench.training.architectures import Llama
from commbench.training.shapes import Parameter, Shapes

_VOCABULARY = 32000  # Llama 2's
_MULTIPLE = 64  # hidden lengths are multiples of this, as real ones are
_MOST_LAYERS, _MOST_PARAMETERS = 10_000, 10**15


_COUNT = re.compile(r"\s*(\d{1,20}(?:\.\d{1,20})?(?:e\+?\d{1,2})?)\s*([kmbt]?)\s*", re.IGNORECASE)
_THOUSANDS = {"": 1, "k": 10**3, "m": 10**6, "b": 10**9, "t": 10**12}


def count_of(text: str | float) -> int:
    """A number of parameters: `7e9`, `7B`, `6738415616`. Raises UsageError for anything else."""
    match = _COUNT.fullmatch(str(text))
    count = Fraction(match[1]) * _THOUSANDS[match[2].lower()] if match else Fraction(1, 2)
    if count.denominator != 1:
        raise UsageError(
            "a number of parameters cannot be read", expected="a whole number such as 7e9, 7B or 350M",
            found=repr(text), fix="write for example --parameters 7e9 --layers 32",
        )  # fmt: skip
    return int(count)


def sized(parameters: int, layers: int | None) -> Shapes:
    """A Llama-shaped model with this many parameters in this many layers.

    Hidden length follows Llama 2's proportions (intermediate 8/3 of hidden, as many kv heads as heads, vocabulary
    32000, output projection not tied); the intermediate length and the vocabulary take up the difference, and the
    final norm holds the last few elements.

    Raises:
        UsageError: for no layers (None too), or too few parameters for one layer and a vocabulary.
    """
    if layers is None or not 1 <= layers <= _MOST_LAYERS or not 1 <= parameters <= _MOST_PARAMETERS:
        raise UsageError(
            "a model of this size cannot be made",
            expected=f"1 to {_MOST_LAYERS} layers (--layers), at most 1e15 parameters",
            found=f"{parameters} parameters in {'no' if layers is None else layers} layers",
            fix="write for example --parameters 7e9 --layers 32",
        )
    hidden = _hidden(parameters, layers)
    if not hidden:
        raise UsageError(
            "a model of this size cannot be made",
            expected=f"at least {_fixed(_MULTIPLE, layers):.3g} parameters for {layers} layers",
            found=f"{parameters} parameters", fix="ask for fewer layers, or name a model (--model tiny)",
        )  # fmt: skip
    intermediate, left = divmod(parameters - _fixed(hidden, layers), 3 * hidden * layers)
    rows, left = divmod(left, 2 * hidden)
    heads = hidden // _MULTIPLE
    model = Llama(hidden, intermediate, layers, heads, heads, _VOCABULARY + rows).shapes(
        f"{parameters / 1e9:.3g}B in {layers} layers", "Llama 2's proportions",
        [f"the model is Llama-shaped: hidden {hidden}, intermediate {intermediate}, vocabulary {_VOCABULARY + rows}"],
    )  # fmt: skip
    norm = Parameter("model.norm.weight", (hidden + left,))
    exact = tuple(norm if each.name == norm.name else each for each in model.parameters)
    return replace(model, parameters=exact)


def _fixed(hidden: int, layers: int) -> int:
    """Parameters of everything but the feed-forward parts, with an intermediate length of 1."""
    return 2 * _VOCABULARY * hidden + hidden + layers * (4 * hidden * hidden + 2 * hidden)


def _hidden(parameters: int, layers: int) -> int:
    """The largest hidden length (a multiple) whose model in Llama's proportions does not exceed the parameters."""
    low, high = 0, 1
    while _in_proportion(high * _MULTIPLE, layers) <= parameters:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _in_proportion(middle * _MULTIPLE, layers) <= parameters else (low, middle)
    return low * _MULTIPLE


def _in_proportion(hidden: int, layers: int) -> int:
    return _fixed(hidden, layers) + layers * 3 * hidden * (hidden * 8 // 3)
