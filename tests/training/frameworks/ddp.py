"""Run a step of DistributedDataParallel and record it."""

from typing import Any

import torch
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from commbench.training.ddp import DdpKnobs
from commbench.training.knobs import read_knobs
from tests.training.frameworks.cases import MODELS, Case
from tests.training.frameworks.modules import batch, module_of
from tests.training.frameworks.recording import Recorded, Recorder


def run(case: Case) -> list[Recorded]:
    """The collectives of the step that the case is about."""
    knobs = read_knobs(DdpKnobs, "dp", case.settings)
    shape = MODELS[case.model]
    sizes: Any = knobs.bucket_cap_mb_list and list(knobs.bucket_cap_mb_list)  # whole numbers by torch's annotation only
    model = DistributedDataParallel(
        module_of(shape, getattr(torch, knobs.param_dtype)),
        bucket_cap_mb=knobs.bucket_cap_mb,
        bucket_cap_mb_list=sizes,
        find_unused_parameters=knobs.find_unused_parameters,
        static_graph=knobs.static_graph,
    )
    if knobs.comm_hook != "none":
        model.register_comm_hook(None, getattr(default_hooks, knobs.comm_hook))
    tokens = batch(shape)
    rebuilding = 3 if knobs.static_graph else 2
    iterations = 1 if knobs.first_iteration else rebuilding if knobs.rebuild_iteration else rebuilding + 1
    recorder = Recorder()
    for _ in range(iterations):
        recorder.calls.clear()
        with recorder:
            for micro_step in range(knobs.gradient_accumulation_steps):
                recorder.micro_step = micro_step
                model.require_backward_grad_sync = micro_step == knobs.gradient_accumulation_steps - 1  # no_sync()
                recorder.phase = "forward"
                loss = model(tokens)
                recorder.phase = "backward"
                loss.backward()
    return recorder.calls
