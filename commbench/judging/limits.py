"""A limits file: which machine, along which path, and what it must reach. TOML, strict: an unknown key is an error.

Format versions:
    1  the first.
"""

import tomllib
from collections.abc import Callable
from math import log
from pathlib import Path
from typing import Annotated, Literal, NamedTuple

import msgspec

from commbench.collectives import COLLECTIVES, collective_named, operator_named
from commbench.dtypes import dtype_named
from commbench.errors import UsageError
from commbench.judging.bounds import (
    FITTED,
    Bound,
    Measure,
    parse_bound,
    parse_factor,
    parse_percent,
    parse_range,
    unreadable,
)
from commbench.modelling.links import NETWORK_PORT
from commbench.sweepfile.records import Mode, Placement

FORMAT = 1
_LARGEST_FILE = 1 << 20  # bytes; a limits file is written by hand or holds some lines a size
_MOST_LIMITS = 10_000
_MOST_SIZES = 100_000  # of all limits together; more checks than this no one reads
_FOREIGN_OPERATORS = ("mulsum",)  # of nccl-tests alone

Ranks = Annotated[int, msgspec.Meta(ge=2, le=1 << 24)]
Positive = Annotated[int, msgspec.Meta(ge=1, le=1 << 24)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=1000)]
ANY = "any"


class Cluster(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which machine the limits are for; a sweep of another one is not verified.

    Attributes:
        ranks_per_host: of every host, or of each.
        device: its name as nvidia-smi prints it, `CPU`, or with `*` for any characters.
        path: paths that must be proved, `any` where none is asked for.
        also_allowed: paths that may be proved beside them; any other one fails.
        backend: None where any may have measured.
        network, ports_per_host: what `% of network` is a share of.
    """

    world_size: Ranks
    ranks_per_host: Positive | tuple[Positive, ...]
    device: Text
    path: Text | tuple[Text, ...]
    also_allowed: tuple[Text, ...] = ()
    backend: Text | None = None
    mode: Mode | None = None
    network: Text | None = None
    ports_per_host: Positive | None = None

    @property
    def paths(self) -> tuple[str, ...]:
        """The required paths; empty where any will do."""
        names = (self.path,) if isinstance(self.path, str) else self.path
        return () if [name.lower() for name in names] == [ANY] else names


class Certainty(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How sure a verdict must be.

    Attributes:
        confidence: of the intervals that are held against the limits.
        single_value: half the interval that a value without samples is given, as a share of it.
    """

    confidence: str = "95 %"
    single_value: str = "5 %"


class _LimitInFile(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    quantity: Measure
    collective: Text
    reason: Text
    size: Text | None = None
    sizes: Text | None = None
    factor: float | None = None
    at_least: Text | None = None
    at_most: Text | None = None
    tolerance: Text | None = None
    op: Text | None = None
    dtype: Text | None = None
    placement: Placement | None = None
    mode: Mode | None = None
    launch_spread: Text | None = None
    launch_freedom: Annotated[float, msgspec.Meta(gt=0.0, le=1e9)] | None = None


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    format: int
    name: Text
    cluster: Cluster
    limit: Annotated[tuple[_LimitInFile, ...], msgspec.Meta(min_length=1, max_length=_MOST_LIMITS)]
    source: str | None = None
    baseline: Text | tuple[Text, ...] = ()
    certainty: Certainty = Certainty()


class LaunchSpread(NamedTuple):
    """By how much one launch differs from the next: a relative standard deviation, and how well it is known."""

    share: float
    freedom: float


class Limit(NamedTuple):
    """One limit. What it does not say (None) any measurement may be.

    Attributes:
        sizes: the first and last message size in bytes; None for a fitted quantity over all sizes.
        factor: between sizes that must all have been measured.
        upper: the bound is the most that is allowed, else the least.
        tolerance: by how much the bound may be missed, as a share of it.
    """

    quantity: Measure
    collective: str
    sizes: tuple[int, int] | None
    factor: float
    bound: Bound
    upper: bool
    tolerance: float
    reason: str
    op: str | None
    dtype: str | None
    placement: str | None
    mode: str | None
    launch_spread: LaunchSpread | None

    @property
    def fitted(self) -> bool:
        """It is about a whole curve."""
        return self.quantity in FITTED


class Limits(NamedTuple):
    """A limits file that made sense.

    Attributes:
        baseline: the sweep files that `% of baseline` refers to, as paths that can be opened.
        confidence, single_value: shares.
    """

    name: str
    cluster: Cluster
    limits: tuple[Limit, ...]
    baseline: tuple[Path, ...]
    confidence: float
    single_value: float


def read_limits(path: str | Path) -> Limits:
    """Read a limits file.

    Raises:
        UsageError: it is not there, no TOML, or says something that makes no sense; the key is named.
    """
    file = Path(path)
    try:
        with file.open("rb") as stream:
            content = stream.read(_LARGEST_FILE + 1)
    except (OSError, ValueError) as error:
        raise unreadable(str(path), "a file that can be read", str(getattr(error, "strerror", error))) from None
    return parse_limits(content, str(path), file.parent)


def parse_limits(content: bytes, name: str = "<limits>", folder: Path = Path()) -> Limits:
    """As `read_limits`, from the file's bytes; `folder` is where paths in it start."""
    if len(content) > _LARGEST_FILE:
        raise unreadable(name, f"at most {_LARGEST_FILE} bytes", "more")
    try:
        written = tomllib.loads(content.decode("utf-8-sig"))  # Windows' editors begin a file with a mark
        file = msgspec.convert(written, _File)
    except (ValueError, RecursionError, msgspec.MsgspecError) as error:  # TOMLDecodeError, UnicodeDecodeError too
        raise unreadable(name, "a limits file (TOML)", " ".join(str(error).split()) or type(error).__name__) from None
    if file.format != FORMAT:
        raise unreadable(name, f"format = {FORMAT}", f"format = {file.format}")
    _check_cluster(file.cluster, name)
    baseline = (file.baseline,) if isinstance(file.baseline, str) else file.baseline
    limits = tuple(_limit(one, f"{name}: limit {number}", file) for number, one in enumerate(file.limit, 1))
    if sum(_count(one) for one in limits) > _MOST_SIZES:
        raise unreadable(name, f"at most {_MOST_SIZES} sizes in all limits together", "more")
    if not baseline and any(one.bound.of == "baseline" for one in limits):
        raise unreadable(name, 'baseline = "good.jsonl", which a limit refers to', "no baseline")
    return Limits(
        file.name, file.cluster, limits, tuple(folder / one for one in baseline),
        _between(file.certainty.confidence, 50.0, 99.9999, f"{name}: certainty.confidence"),
        _between(file.certainty.single_value, 0.01, 50.0, f"{name}: certainty.single_value"),
    )  # fmt: skip


def _count(limit: Limit) -> float:
    """About how many sizes a limit asks for."""
    first, last = limit.sizes or (1, 1)
    return 1.0 + log(last / first) / log(limit.factor)


def _check_cluster(cluster: Cluster, name: str) -> None:
    per_host = cluster.ranks_per_host
    if isinstance(per_host, tuple) and sum(per_host) != cluster.world_size:
        raise unreadable(name, f"ranks_per_host that make {cluster.world_size} ranks", str(list(per_host)))
    if isinstance(per_host, int) and cluster.world_size % per_host:
        raise unreadable(name, f"ranks_per_host that divide {cluster.world_size} ranks", str(per_host))
    if isinstance(cluster.path, tuple) and not cluster.path:
        raise unreadable(name, f'a path, or path = "{ANY}"', "path = []")
    if len(cluster.paths) > 1 and ANY in (path.lower() for path in cluster.paths):
        raise unreadable(name, f'paths, or "{ANY}" alone', str(list(cluster.paths)))
    if cluster.also_allowed and not cluster.paths:
        raise unreadable(name, "also_allowed beside a required path", f'path = "{ANY}"')
    if cluster.network is not None and cluster.network not in NETWORK_PORT:
        raise unreadable(name, f"network as one of {', '.join(NETWORK_PORT)}", repr(cluster.network))


def _limit(written: _LimitInFile, where: str, file: _File) -> Limit:
    try:
        collective = collective_named(written.collective).name
    except UsageError as error:
        raise unreadable(where, error.expected, error.found) from None
    if not COLLECTIVES[collective].moves:
        raise unreadable(where, "a collective with a message", repr(written.collective))
    if (written.at_least is None) == (written.at_most is None):
        raise unreadable(where, "either at_least or at_most", "both" if written.at_least else "neither")
    bound = parse_bound(written.at_least or written.at_most or "", written.quantity, where)
    if bound.of == "network" and (file.cluster.network is None or file.cluster.ports_per_host is None):
        raise unreadable(where, "cluster.network and cluster.ports_per_host", bound.text)
    return Limit(
        quantity=written.quantity,
        collective=collective,
        sizes=_sizes(written, where),
        factor=parse_factor(written.factor if written.factor is not None else 2.0, where),
        bound=bound,
        upper=written.at_most is not None,
        tolerance=parse_percent(written.tolerance, where, 90.0) if written.tolerance else 0.0,
        reason=written.reason,
        op=_known(operator_named, written.op, where) if written.op not in _FOREIGN_OPERATORS else written.op,
        dtype=_known(dtype_named, written.dtype, where),
        placement=written.placement,
        mode=written.mode or _mode(file.cluster, where),
        launch_spread=_launch_spread(written, where),
    )


def _known(named: Callable[[str], str], text: str | None, where: str) -> str | None:
    """Our name of an operator or a dtype, as sweeps have it; a name that nobody knows would match nothing."""
    try:
        return named(text) if text is not None else None
    except UsageError as error:
        raise unreadable(where, error.expected, error.found) from None


def _mode(cluster: Cluster, where: str) -> Literal["isolated", "pipelined", "graph"]:
    if cluster.mode is None:
        raise unreadable(where, "mode = isolated, pipelined or graph, here or in [cluster]", "no mode")
    return cluster.mode


def _sizes(written: _LimitInFile, where: str) -> tuple[int, int] | None:
    if written.size is not None and written.sizes is not None:
        raise unreadable(where, "either size or sizes", "both")
    text = written.size or written.sizes
    if text is None:
        if written.quantity in FITTED:
            return None
        raise unreadable(where, "size = 1G, or sizes = 64M..4G", f"a limit of {written.quantity} without a size")
    if written.size is not None and ".." in text:
        raise unreadable(where, "one size; a range is written sizes = 64M..4G", repr(text))
    return parse_range(text, where)


def _launch_spread(written: _LimitInFile, where: str) -> LaunchSpread | None:
    if written.launch_spread is None:
        if written.launch_freedom is not None:
            raise unreadable(where, "launch_freedom beside launch_spread", "launch_freedom alone")
        return None
    share = parse_percent(written.launch_spread, where, 100.0)
    return LaunchSpread(share, written.launch_freedom if written.launch_freedom is not None else float("inf"))


def _between(text: str, least: float, most: float, where: str) -> float:
    share = parse_percent(text, where)
    if not least <= 100.0 * share <= most:
        raise unreadable(where, f"{least:g} % to {most:g} %", repr(text))
    return share
