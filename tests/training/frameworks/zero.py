"""Started once per rank by torchrun: run DeepSpeed in every configuration, write what it issued.

DeepSpeed reads DS_ACCELERATOR=cpu from the environment; the launching test sets it.
"""

import json
import sys
from pathlib import Path
from typing import Any

import deepspeed
import torch
import torch.distributed as dist
from deepspeed.runtime.zero import stage_1_and_2

from tests.training.frameworks.cases import MODELS, ZERO, Case
from tests.training.frameworks.modules import batch, module_of
from tests.training.frameworks.recording import Recorded, Recorder

_DTYPES = {"float32": "fp32", "float16": "fp16", "bfloat16": "bf16"}
_TOP = ("bf16", "fp16", "communication_data_type", "grad_accum_dtype", "check_grad_overflow", "first_iteration")


def configuration(case: Case) -> dict[str, Any]:
    """The DeepSpeed configuration that the case's settings stand for."""
    given = {name: _value(text) for name, text in case.settings.items()}
    zero = {name: value for name, value in given.items() if name not in _TOP}
    steps = zero.pop("gradient_accumulation_steps", 1)
    if case.variant == "multi-rank-off":
        zero["use_multi_rank_bucket_allreduce"] = False
    written: dict[str, Any] = {
        "train_micro_batch_size_per_gpu": 1,
        "gradient_accumulation_steps": steps,
        "steps_per_print": 10**9,
        "zero_optimization": {"stage": int(case.strategy[-1]), **zero},
        "zero_allow_untested_optimizer": True,
    }
    if given.get("bf16"):
        written["bf16"] = {"enabled": True, "check_grad_overflow": given.get("check_grad_overflow", True)}
    if given.get("fp16"):
        written["fp16"] = {"enabled": True, "loss_scale": 1}
    if "communication_data_type" in given:
        written["communication_data_type"] = _DTYPES[given["communication_data_type"]]
    if "grad_accum_dtype" in given:
        written["data_types"] = {"grad_accum_dtype": _DTYPES[given["grad_accum_dtype"]]}
    return written


def _value(text: str) -> Any:
    words: dict[str, Any] = {"true": True, "false": False}
    if text in words or text in _DTYPES:
        return words.get(text, text)
    return int(float(text))


def run(case: Case) -> list[Recorded]:
    """The collectives of the step that the case is about."""
    settings = configuration(case)
    shape = MODELS[case.model]
    model = module_of(shape)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
    engine: Any = deepspeed.initialize(model=model, optimizer=optimizer, config=settings)[0]
    tokens = batch(shape)
    recorder = Recorder()
    for _ in range(1 if case.settings.get("first_iteration") == "true" else 3):
        recorder.calls.clear()
        with recorder:
            for micro_step in range(settings["gradient_accumulation_steps"]):
                recorder.micro_step = micro_step
                recorder.phase = "forward"
                loss = engine(tokens)
                recorder.phase = "backward"
                engine.backward(loss)
                recorder.phase = "step"
                engine.step()
    calls = [call._replace(micro_step=0) if call.phase == "step" else call for call in recorder.calls]
    engine.destroy()
    return calls


def main(output: str) -> None:
    """Write {name: calls} of this world's cases."""
    # An operator for CPUs that only inference uses would be compiled first, for minutes.
    deepspeed.comm.torch.build_shm_op = lambda: None
    # It looks for tensors of type torch.cpu.FloatTensor, which on CPUs is torch.FloatTensor, and would reduce nothing.
    stage_1_and_2.split_half_float_double = lambda tensors: [tensors] if tensors else []
    deepspeed.init_distributed("gloo", verbose=False)
    issued = {case.name: run(case) for case in ZERO if dist.get_world_size() in case.worlds}
    if dist.get_rank() == 0:
        Path(output).write_text(json.dumps(issued))
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main(sys.argv[1])
