"""The collectives of a real step, read from a trace of PyTorch's profiler (Chrome format, plain or gzip).

Three kinds of events name a collective and its size; the first kind that a trace has is read, and no other:

    record_param_comms   of NCCL since torch 2.2: `Collective name`, `In msg nelems`, `Out msg nelems`, `dtype`
    c10d::allreduce_     the operators, with `Input Dims` if the profiler ran with record_shapes=True
    gloo:all_reduce      gloo's and NCCL's annotations, with `Input Dims` as well (gloo runs a reduce_scatter as an
                         all_reduce, so these are read last)
"""

import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from commbench.errors import CommbenchError, SweepFileError


class NoCollectivesError(CommbenchError):
    """A trace in which no collective with a size can be found."""

    exit_code = 3


class TracedCall(NamedTuple):
    """One collective of a real step.

    Attributes:
        elements: of the whole message (an all_gather's output, a reduce_scatter's input).
        dtype, ranks: None where the trace does not say.
    """

    collective: str
    elements: int
    dtype: str | None
    ranks: int | None


class Profile(NamedTuple):
    """The collectives of one step of a trace.

    Attributes:
        calls: in the order in which they were issued.
        events: which kind of events was read.
        step: the profiler's number of the step, None where it marked none (then everything is read).
        world_size: None where the trace does not say.
    """

    calls: tuple[TracedCall, ...]
    events: str
    step: int | None
    world_size: int | None


class _Event(msgspec.Struct):
    name: str = ""
    ts: float = 0.0
    dur: float = 0.0
    args: dict[str, Any] = {}


class _Trace(msgspec.Struct):
    traceEvents: list[_Event]  # noqa: N815  # the format's name
    distributedInfo: dict[str, Any] = {}  # noqa: N815


_COLLECTIVES = {
    "allreduce": "all_reduce", "all_reduce": "all_reduce", "allreduce_coalesced": "all_reduce",
    "allreduce_sparse": "all_reduce",
    "_allgather_base": "all_gather", "all_gather": "all_gather", "allgather": "all_gather",
    "all_gather_into_tensor": "all_gather", "allgather_into_tensor_coalesced": "all_gather",
    "allgather_coalesced": "all_gather", "_all_gather_base": "all_gather", "all_gather_single": "all_gather",
    "_reduce_scatter_base": "reduce_scatter", "reduce_scatter": "reduce_scatter",
    "reduce_scatter_tensor": "reduce_scatter", "reduce_scatter_tensor_coalesced": "reduce_scatter",
    "reduce_scatter_single": "reduce_scatter",
    "reduce": "reduce", "broadcast": "broadcast",
    "alltoall": "all_to_all", "alltoall_base": "all_to_all", "all_to_all": "all_to_all",
    "all_to_allv": "all_to_all", "gather": "gather", "scatter": "scatter",
}  # fmt: skip
_DTYPES = {
    "float": "float32", "half": "float16", "bfloat16": "bfloat16", "double": "float64", "byte": "uint8",
    "unsigned char": "uint8", "char": "int8", "signed char": "int8", "int": "int32", "long": "int64",
    "long int": "int64", "float8_e4m3fn": "float8_e4m3", "float8_e5m2": "float8_e5m2",
}  # fmt: skip
_STEP = re.compile(r"ProfilerStep#(\d+)")
_MOST = 1 << 34  # bytes of a trace once unpacked


def read_profile(path: str | Path, step: int | None = None) -> Profile:
    """The collectives of a step of a trace.

    Args:
        step: the profiler's number of the step; the last one if None.

    Raises:
        SweepFileError: the file cannot be read, is no such trace, or has no such step.
        NoCollectivesError: it holds no collective with a size.
    """
    trace = _decode(path)
    chosen, window = _window(trace, step, path)
    inside = sorted((event for event in trace.traceEvents if window[0] <= event.ts < window[1]), key=lambda e: e.ts)
    for kind, read in _KINDS.items():
        calls = tuple(call for event in inside for call in read(event))
        if calls:
            return Profile(calls, kind, chosen, _world_size(trace, calls))
    raise NoCollectivesError(
        "the trace names no collective with its size",
        expected="record_param_comms events (NCCL), or c10d:: operators with Input Dims",
        found=f"{path}: {len(inside)} events" + ("" if chosen is None else f" in step {chosen}"),
        fix="profile a step with torch.profiler.profile(..., record_shapes=True), on a rank of the job",
    )


def _decode(path: str | Path) -> _Trace:
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:  # ValueError: a name that no file can have
        raise SweepFileError("the trace cannot be read", expected="a file that PyTorch's profiler wrote",
                             found=f"{str(path)!a}: {getattr(error, 'strerror', None) or error}",
                             fix="check the path") from None  # fmt: skip
    try:
        if content[:2] == b"\x1f\x8b":
            content = zlib.decompressobj(wbits=31).decompress(content, _MOST)
        return msgspec.json.decode(content, type=_Trace)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, zlib.error, gzip.BadGzipFile) as error:
        raise SweepFileError("this is no trace of PyTorch's profiler", expected="a JSON object with traceEvents",
                             found=f"{path}: {str(error)[:200]}",
                             fix="export it with prof.export_chrome_trace(FILE)") from None  # fmt: skip


def _window(trace: _Trace, step: int | None, path: str | Path) -> tuple[int | None, tuple[float, float]]:
    """The number of the step that is read, and from when to when it runs."""
    steps: dict[int, tuple[float, float]] = {}
    for event in trace.traceEvents:
        if match := _STEP.fullmatch(event.name):
            steps.setdefault(int(match[1]), (event.ts, event.ts + event.dur))
    if step is None:
        if not steps:
            return None, (float("-inf"), float("inf"))
        step = max(steps)
    if step not in steps:
        raise SweepFileError("the trace has no such step", expected=", ".join(map(str, sorted(steps))) or "no number",
                             found=f"{path}: step {step} was asked for",
                             fix="leave --trace-step away for the last one")  # fmt: skip
    return step, steps[step]


def _world_size(trace: _Trace, calls: tuple[TracedCall, ...]) -> int | None:
    stated = trace.distributedInfo.get("world_size")
    sizes = [call.ranks for call in calls if call.ranks]
    return stated if isinstance(stated, int) and stated > 0 else max(sizes, default=None)


def _from_params(event: _Event) -> Iterator[TracedCall]:
    name = _COLLECTIVES.get(str(event.args.get("Collective name", "")).lower())
    if event.name != "record_param_comms" or name is None:
        return
    counts = [event.args.get(key) for key in ("In msg nelems", "Out msg nelems")]
    elements = max((count for count in counts if isinstance(count, int)), default=0)
    ranks = event.args.get("Group size")
    yield TracedCall(name, elements, _dtype(event.args.get("dtype")), ranks if isinstance(ranks, int) else None)


def _from_operators(event: _Event) -> Iterator[TracedCall]:
    if event.name.startswith("c10d::"):
        yield from _sized(event.name.removeprefix("c10d::").removesuffix("_"), event)


def _from_annotations(event: _Event) -> Iterator[TracedCall]:
    library, colon, name = event.name.partition(":")
    if colon and library in ("gloo", "nccl"):
        yield from _sized(name, event)


def _sized(name: str, event: _Event) -> Iterator[TracedCall]:
    collective, dims = _COLLECTIVES.get(name.lower()), event.args.get("Input Dims")
    if collective is None or not isinstance(dims, list):
        return
    sizes = [size for size in map(_elements, dims) if size]
    if sizes:
        types = event.args.get("Input type")
        found = [dtype for dtype in map(_dtype, types if isinstance(types, list) else []) if dtype]
        yield TracedCall(collective, max(sizes), found[0] if found else None, None)


def _elements(dims: object) -> int:
    """Elements of one argument: [4, 2] is a tensor, [[4, 2], [8]] a list of tensors."""
    if not isinstance(dims, list) or not dims:
        return 0
    if all(isinstance(each, int) for each in dims):
        return prod(dims)
    return sum(map(_elements, dims))


def _dtype(text: object) -> str | None:
    return _DTYPES.get(text.lower().removeprefix("c10::")) if isinstance(text, str) else None


_KINDS: dict[str, Callable[[_Event], Iterator[TracedCall]]] = {
    "record_param_comms": _from_params,
    "c10d operators": _from_operators,
    "annotations": _from_annotations,
}
