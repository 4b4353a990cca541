"""Prints tables as the programs of the nccl-tests family did and do, generation by generation."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

FACTORS: dict[str, Callable[[int], float]] = {
    "all_reduce": lambda n: 2 * (n - 1) / n,
    "all_gather": lambda n: (n - 1) / n,
    "reduce_scatter": lambda n: (n - 1) / n,
    "alltoall": lambda n: (n - 1) / n,
    "gather": lambda n: (n - 1) / n,
    "scatter": lambda n: (n - 1) / n,
    "hypercube": lambda n: 1.0,
    "broadcast": lambda n: 1.0,
    "reduce": lambda n: 1.0,
    "sendrecv": lambda n: 1.0,
}
SHARDED = frozenset({"all_gather", "reduce_scatter", "alltoall", "gather", "scatter", "hypercube"})
OPERATORS = frozenset({"all_reduce", "reduce_scatter", "reduce"})
ROOTED = frozenset({"broadcast", "reduce", "gather", "scatter"})
NOT_CHECKED_IN_PLACE = frozenset({"alltoall", "sendrecv"})


class Point(NamedTuple):
    """A printed row: size (B) and the times of both placements (us)."""

    size: int
    out_us: float
    in_us: float


def points(sizes: Iterable[int], base: float = 20.0) -> list[Point]:
    """Rows with times that grow as they do on a link of 100 GB/s."""
    return [Point(size, base + size / 1e5, base + 1 + size / 1e5) for size in sizes]


@dataclass(frozen=True)
class Printer:
    """How one program prints.

    Attributes:
        collective: in nccl-tests' spelling.
        generation: A, B, C0, C1, C2, C3, C4 or X, see docs/importing.md.
        extras: of timestamp, cputime, hipevt, algo, graph, group, unchecked.
    """

    collective: str = "all_reduce"
    ranks: int = 8
    generation: str = "C3"
    dtype: str = "float"
    op: str = "sum"
    extras: frozenset[str] = frozenset()
    width: int = 4

    @property
    def factor(self) -> float:
        """Bus bandwidth over algorithm bandwidth."""
        return FACTORS[self.collective](self.ranks)

    def count(self, size: int) -> int:
        """The count column."""
        return size // self.width // (self.ranks if self.collective in SHARDED else 1)

    def group(self, size: int, us: float, check: str) -> str:
        """One group of figures."""
        algbw = size / us / 1e3
        if self.collective == "hypercube" or (self.generation in ("A", "B") and self.collective == "all_gather"):
            algbw *= (self.ranks - 1) / self.ranks
            busbw = algbw
        else:
            busbw = algbw * self.factor
        if self.generation == "A":
            return f" {us / 1e3:7.3f} {algbw:6.2f} {busbw:6.2f} {check:>7}"
        time = f"{us:7.2f}" if us < 1e4 else f"{us:7.1f}" if us < 1e5 else f"{us:7.0f}"
        if "hipevt" in self.extras:
            time += f" {us * 1.02:7.2f}"
        tail = f"  {us * 0.9:7.2f}  {us * 1.2:7.2f}  {us * 1.2:7.2f}  {3.25:7.2f}" if self.generation == "C4" else ""
        copy = f" {algbw * 1.1:6.2f}" if self.generation == "X" else ""
        return f"  {time}  {algbw:6.2f}  {busbw:6.2f}{copy}  {check:>6}{tail}"

    def preamble(self, size: int) -> str:
        """Size, count and what else stands before the figures."""
        words = f"{size:12d}  {self.count(size):12d}  {self.dtype:>8}"
        has_op, rooted = self.collective in OPERATORS, self.collective in ROOTED
        if self.generation == "A":
            return words + (f"  {self.op:>6}" if has_op else "") + (f"  {0:6d}" if rooted else "")
        if self.generation == "B":
            op = f"  {self.op:>6}" if has_op else f"  {'':>6}" if self.collective == "alltoall" else ""
            return words + op + (f"  {0:6d}" if rooted else "")
        word = self.op if has_op or self.collective == "sendrecv" else "none"
        if self.collective == "hypercube" or (self.generation == "C0" and word == "none"):
            word = ""
        return words + f"  {word:>6}" + f"  {0 if rooted else -1:6d}"

    def check(self, placement: str) -> str:
        """The last column of a group."""
        if "unchecked" in self.extras:
            return "N/A"
        if self.generation in ("A", "B"):
            return "2e-07"
        return "N/A" if placement == "in" and self.collective in NOT_CHECKED_IN_PLACE else "0"

    def row(self, point: Point) -> str:
        """A whole row."""
        text = self.preamble(point.size) + self.group(point.size, point.out_us, self.check("out"))
        if not (self.generation == "A" and self.collective == "broadcast"):
            text += self.group(point.size, point.in_us, self.check("in"))
        if "algo" in self.extras:
            text += "   Ring   LL128   16"
        if "timestamp" in self.extras:
            text += "   2026-07-09 11:22:33"
        return text

    def header(self) -> list[str]:
        """The lines that name the columns."""
        check = "error" if self.generation == "B" else "#wrong"
        time = "cputime" if "cputime" in self.extras else "time"
        if self.generation == "A":
            extra = {"op": self.collective in OPERATORS, "root": self.collective in ROOTED}
            group = "     time  algbw  busbw      res"
            names = "# bytes         N    type " + " ".join(f"{w:>6}" for w, there in extra.items() if there)
            return [names + group * (1 if self.collective == "broadcast" else 2)]
        if self.generation == "B":
            op = self.collective in OPERATORS or self.collective == "alltoall"
            words = ("   redop" if op else "") + ("    root" if self.collective in ROOTED else "")
        else:
            words = "   redop    root"
        hip = "   hipevt" if "hipevt" in self.extras else ""
        copy = " copybw" if self.generation == "X" else ""
        spread = "    i_min    i_max    i_p99    i_cv%" if self.generation == "C4" else ""
        group = f"     {time}{hip}   algbw   busbw{copy}  {check}{spread}"
        tail = ("   algo   proto   nchannels" if "algo" in self.extras else "") + (
            "   timestamp" if "timestamp" in self.extras else ""
        )
        unit = "           (us)  (GB/s)  (GB/s)"
        units = f"#        (B)    (elements){'':>{len(words)}}{unit}{unit}"
        return [
            f"#{'out-of-place':>60} {'in-place':>35}",
            f"#       size         count      type{words}{group}{group}{tail}",
            units,
        ]

    def banner(self) -> list[str]:
        """What stands above the header."""
        step = "step: 2(factor)"
        sizes = f"minBytes 8 maxBytes 1073741824 {step}"
        if self.generation == "A":
            return [f"nThread 1 nGpus {self.ranks} {sizes} warmup iters: 5 iters: 20 validation: 1 "]
        lines = []
        if self.generation in ("C3", "C4"):
            lines.append("# nccl-tests version 2.19.6 nccl-headers=22904 nccl-library=22904")
        if self.generation in ("C2", "C3", "C4"):
            lines.append(f"# Collective test starting: {self.collective}_perf")
        graph = 4 if "graph" in self.extras else 0
        more = f" agg iters: 1 validation: {int('unchecked' not in self.extras)} graph: {graph}"
        lines.append(f"# nThread 1 nGpus 1 {sizes} warmup iters: 5 iters: 20{more if self.generation != 'B' else ''}")
        if self.generation == "C4":
            lines.append("# Per-Iteration Report: CUDA event timing; i_* uses max over process rows")
        return lines

    def devices(self) -> list[str]:
        """The device list."""
        lines = ["#", "# Using devices"]
        for rank in range(self.ranks):
            group = f" Group {rank % 2 if 'group' in self.extras else 0:2d}" if self.generation[0] in "CX" else ""
            pid = "" if self.generation == "A" else f" Pid {1000 + rank:6d}"
            host, device = f"host{rank // 8}", rank % 8
            lines.append(f"#  Rank {rank:2d}{group}{pid} on {host:>10} device {device:2d} [0x{device:02x}] NVIDIA H100")
        return [*lines, "#"]

    def footer(self, rows: Sequence[Point], failed: int = 0) -> list[str]:
        """What stands below the table, with the true mean of the printed bus bandwidths."""
        values = []
        for point in rows:
            values += [float(word) for word in self._bus(self.row(point).split())]
        mean = sum(values) / len(values)
        mark = "" if self.generation == "A" else "#"
        lines = [f"{mark} Out of bounds values : {failed} {'FAILED' if failed else 'OK'}"]
        lines.append(f"{mark} Avg bus bandwidth    : {mean:g} ")
        if self.generation in ("C2", "C3", "C4"):
            lines += ["#", f"# Collective test concluded: {self.collective}_perf", "#"]
        return lines

    def _bus(self, words: Sequence[str]) -> list[str]:
        width = 4 + ("hipevt" in self.extras) + (self.generation == "X") + 4 * (self.generation == "C4")
        tail = 3 * ("algo" in self.extras) + 2 * ("timestamp" in self.extras)
        groups = 1 if self.generation == "A" and self.collective == "broadcast" else 2
        figures = words[len(words) - tail - groups * width : len(words) - tail]
        place = 2 + ("hipevt" in self.extras)
        return [figures[place + group * width] for group in range(groups)]

    def log(self, rows: Sequence[Point], *, devices: bool = True) -> str:
        """A whole log."""
        lines = [*self.banner(), *(self.devices() if devices else []), *self.header(), *map(self.row, rows)]
        return "\n".join([*lines, *self.footer(rows)]) + "\n"
