"""Run a step of fully_shard and record it."""

from typing import Any

import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, MixedPrecisionPolicy, fully_shard

from commbench.training.fsdp import FsdpKnobs
from commbench.training.knobs import read_knobs
from tests.training.frameworks.cases import MODELS, Case
from tests.training.frameworks.modules import batch, blocks_of, module_of
from tests.training.frameworks.recording import Recorded, Recorder


def run(case: Case) -> list[Recorded]:
    """The collectives of the step that the case is about."""
    knobs = read_knobs(FsdpKnobs, "fsdp", case.settings)
    world, shape = dist.get_world_size(), MODELS[case.model]
    sizes: tuple[int, ...] = (world,)
    names: tuple[str, ...] = ("shard",)
    if case.variant == "hsdp":
        sizes, names = (world // (knobs.mesh or 1), knobs.mesh or 1), ("replicate", "shard")
    reduce = getattr(torch, knobs.reduce_dtype) if knobs.reduce_dtype else None
    arguments: dict[str, Any] = {
        "mesh": init_device_mesh("cpu", sizes, mesh_dim_names=names),
        "mp_policy": MixedPrecisionPolicy(param_dtype=getattr(torch, knobs.param_dtype), reduce_dtype=reduce),
        "reshard_after_forward": knobs.reshard_after_forward,
    }
    model = module_of(shape)
    for layer in blocks_of(model):
        fully_shard(layer, **arguments)
    fully_shard(model, **arguments)
    for module in model.modules():
        if isinstance(module, FSDPModule):
            module.set_force_sum_reduction_for_comms(knobs.force_sum_reduction_for_comms)
    tokens, last = batch(shape), knobs.gradient_accumulation_steps - 1
    recorder = Recorder()
    for _ in range(2):
        recorder.calls.clear()
        with recorder:
            for micro_step in range(last + 1):
                model.set_requires_gradient_sync(knobs.requires_gradient_sync or micro_step == last)  # type: ignore[operator]
                recorder.micro_step = micro_step
                recorder.phase = "forward"
                loss = model(tokens)
                recorder.phase = "backward"
                loss.backward()
            if knobs.clip_grad_norm:
                recorder.phase, recorder.micro_step = "step", 0
                torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        model.zero_grad()
    return recorder.calls
