"""Real DDP and FSDP2 steps without computation, beside the communication that their schedules are predicted to cost.

    python -m benchmarks.framework_steps [--ranks 2] [--parameters 20e6] [--layers 4] [--steps 5]

A bare model has real parameters and does nothing with them: forward passes its input on, backward hands out gradients
that lie ready. What a step then takes beside communication (copies into buckets, hooks, Python) is measured by the
same step with collectives that return at once (torch's `fake` process group, in DDP a hook), and taken off. On GPUs
collectives run beside those copies, so nothing can be taken off: there the communication is the time of NCCL's kernels
in torch's profiler, each on the rank where it was shortest, which is the one that had nobody to wait for. The
prediction prices the schedule's own sizes, measured by commbench before each step, each call after the one before it.
"""

import argparse
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from statistics import median
from time import perf_counter
from typing import Any

from benchmarks.machine import machine_and_date

CASES = (("dp", None), ("fsdp", None))
TIMES = 5  # a step is timed as the mean of so many, after as many that are not


def main() -> int:
    """Start the ranks, or be one. Returns 1 when a prediction is further off than 20 %."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--parameters", default="20e6")
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--steps", type=int, default=5, help="rounds; the median counts")
    parser.add_argument("--backend", help="gloo or nccl (default: nccl where there is a GPU)")
    options = parser.parse_args()
    if "RANK" in os.environ:
        return _rank(options)
    words = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(options.ranks)]
    done = subprocess.run(
        [sys.executable, *words, "-m", "benchmarks.framework_steps", *sys.argv[1:]],
        env={**os.environ, "OMP_NUM_THREADS": "1"}, stdout=subprocess.PIPE, text=True, check=True,
    )  # fmt: skip
    rows = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    print(f"{machine_and_date()}\n")
    print(
        "| step | backend | calls | whole step ms | without communication ms | communication ms | predicted ms | off |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for row in rows:
        times = " | ".join(f"{1e3 * row[name]:.2f}" for name in ("step", "bare", "measured", "predicted"))
        print(f"| {row['name']} | {row['backend']} | {row['calls']} | {times} | {100 * row['error']:+.1f} % |")
    return 1 if any(abs(row["error"]) > 0.2 for row in rows) else 0


def _rank(options: argparse.Namespace) -> int:
    from commbench.launching.identity import identify
    from commbench.measuring.torch_session import TorchSession

    session = TorchSession(options.backend, os.environ)
    identity = identify(os.environ)
    assert identity is not None
    session.meet(identity)
    world = session.join()
    for strategy, variant in CASES:
        row = _case(session, world, strategy, variant, options)
        if identity.rank == 0:
            print(json.dumps(row), flush=True)
    session.leave()
    return 0


def _case(session: Any, world: Any, strategy: str, variant: str | None, options: Any) -> dict[str, Any]:
    import torch.distributed as dist

    from commbench.measuring.core import measure
    from commbench.measuring.plan import Memory
    from commbench.measuring.watch import Watch
    from commbench.replaying.issuing import case_of, open_backends, possible
    from commbench.replaying.run import SHORT
    from commbench.training.schedules import schedule
    from commbench.training.shapes import model_of_size

    shapes = model_of_size(options.parameters, options.layers)
    expected = schedule(strategy, shapes, world.size, variant, {"param_dtype": "float32"})
    cases = [case_of(call, strategy, session.placements, "pipelined") for call in expected.calls]
    memory = Memory(session.device.free_bytes // world.size, session.device.cache_bytes, rotate=True)
    backends = open_backends(session, world, expected.calls, cases, memory)
    (backend,) = backends.values()
    on_gpu = session.device.index is not None
    cases = [possible(backend, case) for case in cases]
    real, kernels = _steps(strategy, shapes, session, dist.group.WORLD)
    with _fake_group() as fake:
        bare, _ = _steps(strategy, shapes, session, fake, silent=True)
        watch = Watch(world.rank, world.size)
        rounds = []
        for _ in range(options.steps):
            known = {case: median(measure(backend, case, SHORT, watch).seconds) for case in dict.fromkeys(cases)}
            times = world.gather([real(), bare()]).max(axis=0)
            spent = world.gather(kernels()).min(axis=0).sum() / TIMES if on_gpu else times[0] - times[1]
            rounds.append((sum(known[case] for case in cases), *times, spent))
    predicted, step, without, measured = (median(column) for column in zip(*rounds, strict=True))
    return {
        "name": f"{strategy} {expected.variant}, {expected.framework}, {options.parameters} parameters in "
        f"{options.layers} layers, {world.size} ranks",
        "backend": session.backend_name(), "calls": len(cases), "step": float(step), "bare": float(without),
        "measured": float(measured), "predicted": float(predicted), "error": float(predicted / measured - 1.0),
    }  # fmt: skip


@contextmanager
def _fake_group() -> Iterator[Any]:
    """A process group of all ranks whose collectives do nothing."""
    import torch.distributed as dist
    from torch.testing._internal.distributed import fake_pg  # noqa: F401  # registers the backend

    group = dist.new_group(backend="fake")
    yield group
    dist.destroy_process_group(group)


def _steps(
    strategy: str, shapes: Any, session: Any, group: Any, *, silent: bool = False
) -> tuple[Callable[[], float], Callable[[], list[float]]]:
    """Steps under the framework: the mean seconds of one on this rank, and the seconds of each of NCCL's kernels."""
    import torch
    import torch.distributed as dist

    def reduced_at_once(  # DDP wants the annotations
        _: object,
        bucket: dist.GradBucket,  # type: ignore[name-defined]
    ) -> torch.futures.Future[torch.Tensor]:
        """For buckets that need no communication: torch's fake group cannot stand in for DDP's."""
        done: torch.futures.Future[torch.Tensor] = torch.futures.Future()
        done.set_result(bucket.buffer())
        return done

    device = torch.device(f"cuda:{session.device.index}" if session.device.index is not None else "cpu")
    model = _bare_model(shapes).to(device)
    wrapped: Any
    if strategy == "dp":
        wrapped = torch.nn.parallel.DistributedDataParallel(model)
        if silent:
            wrapped.register_comm_hook(None, reduced_at_once)
    else:
        from torch.distributed.device_mesh import DeviceMesh
        from torch.distributed.fsdp import fully_shard

        mesh = DeviceMesh.from_group(group, device.type)
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        wrapped = fully_shard(model, mesh=mesh)
    given = torch.zeros(1, device=device, requires_grad=True)

    def one() -> None:
        wrapped(given).sum().backward()
        for parameter in model.parameters():
            parameter.grad = None

    def wait() -> None:
        if device.type == "cuda":
            torch.cuda.synchronize()

    for _ in range(5):  # DDP rebuilds its buckets after the first
        one()

    def seconds() -> float:
        one()
        wait()
        dist.barrier()
        begun = perf_counter()
        for _ in range(TIMES):
            one()
        wait()
        return (perf_counter() - begun) / TIMES

    def kernels() -> list[float]:
        from torch.profiler import ProfilerActivity, profile

        with profile(activities=[ProfilerActivity.CUDA]) as profiler:
            for _ in range(TIMES):
                one()
            wait()
        found = [e for e in profiler.events() or () if e.device_type.name == "CUDA" and "nccl" in e.name.lower()]
        return [e.time_range.elapsed_us() * 1e-6 for e in sorted(found, key=lambda event: event.time_range.start)]

    return seconds, kernels


def _bare_model(shapes: Any) -> Any:
    """A module of these parameters, in blocks, that computes nothing."""
    import torch

    ready: dict[torch.Size, torch.Tensor] = {}

    class Touch(torch.autograd.Function):
        """Passes its input on; the gradient of the parameter is one that lies ready."""

        @staticmethod
        def forward(ctx: Any, given: torch.Tensor, parameter: torch.Tensor) -> torch.Tensor:
            ctx.shape, ctx.like = parameter.shape, parameter.detach()
            return given.clone()

        @staticmethod
        def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
            if ctx.shape not in ready:
                ready[ctx.shape] = torch.zeros(ctx.shape, dtype=ctx.like.dtype, device=ctx.like.device)
            return gradient, ready[ctx.shape]

    class Bare(torch.nn.Module):
        def __init__(self, modules: list[str]) -> None:
            super().__init__()
            self.held = torch.nn.ParameterList(
                torch.nn.Parameter(torch.zeros(parameter.shape))
                for module in modules for parameter in shapes.by_module[module]
            )  # fmt: skip

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            for parameter in self.held:
                given = Touch.apply(given, parameter)  # type: ignore[no-untyped-call]
            return given

    class Model(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            used = list(dict.fromkeys(shapes.used))
            inside = [module for module in used if shapes.block_of(module)]
            first, last = used.index(inside[0]), used.index(inside[-1])
            self.before = Bare(used[:first])
            self.blocks = torch.nn.ModuleList(
                Bare([module for module in inside if shapes.block_of(module) == block]) for block in shapes.blocks
            )
            self.after = Bare(used[last + 1 :])

        def forward(self, given: torch.Tensor) -> torch.Tensor:
            given = self.before(given)
            for block in self.blocks:
                given = block(given)
            result: torch.Tensor = self.after(given)
            return result

    return Model()


if __name__ == "__main__":
    sys.exit(main())
