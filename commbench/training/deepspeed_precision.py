"""Element types of a DeepSpeed step: fp16, bf16 or neither, and what travels (runtime/engine.py, get_data_types and
communication_data_type).
"""

from dataclasses import dataclass

from commbench.errors import UsageError
from commbench.training.knobs import knob


@dataclass(frozen=True, kw_only=True)
class PrecisionKnobs:
    """The settings of a DeepSpeed configuration that decide element types, and how often a step communicates."""

    bf16: bool | None = knob(None, "bf16.enabled; unset: on, unless fp16 is")
    fp16: bool = knob(False, "fp16.enabled")
    communication_data_type: str | None = knob(None, "dtype of gradients on the way; unset: the model's", dtype=True)
    grad_accum_dtype: str | None = knob(None, "data_types.grad_accum_dtype; unset: the model's", dtype=True)
    check_grad_overflow: bool | None = knob(None, "bf16.check_grad_overflow; unset: on with fp16 and bf16")
    gradient_accumulation_steps: int = knob(1, "forward and backward passes of one step", at_least=1)


@dataclass(frozen=True)
class Precision:
    """Names of commbench.dtypes: of the model, of accumulated gradients, of gradients on the way."""

    model: str
    gradients: str
    communication: str
    overflow_checked: bool


def precision(knobs: PrecisionKnobs) -> Precision:
    """The element types that these settings lead to.

    Raises:
        UsageError: where both fp16 and bf16 are on, which DeepSpeed refuses too.
    """
    if knobs.bf16 and knobs.fp16:
        raise UsageError(
            "a DeepSpeed model cannot be fp16 and bf16", expected="one of them",
            found="fp16=true and bf16=true", fix="leave one of them out",
        )  # fmt: skip
    half = knobs.fp16 or knobs.bf16 is not False
    model = "float16" if knobs.fp16 else "bfloat16" if half else "float32"
    checked = half if knobs.check_grad_overflow is None or knobs.fp16 else half and knobs.check_grad_overflow
    return Precision(model, knobs.grad_accum_dtype or model, knobs.communication_data_type or model, checked)
