"""The lines around a table of the nccl-tests family: banner, devices, footer, failures, and NCCL's own log."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from commbench.collectives import collective_named
from commbench.errors import UsageError
from commbench.importing.nccl_family.command_lines import Command

_VERSION = re.compile(r"(nccl-tests|rccl-tests)(?::)? version:?\s+(\S+)(.*)", re.IGNORECASE)
_LIBRARY = re.compile(r"\b[nr]ccl-(headers|library)=(\d{1,9})\b")
_STARTING = re.compile(r"Collective test starting:\s*(\S+)")
_CONCLUDED = re.compile(r"Collective test concluded:\s*(\S+)")
_SETTINGS = re.compile(
    r"(nThread|nGpus(?:\(perProc\))?|minBytes|maxBytes|step|warmup ?iters|iters|agg iters|validation|graph|unalign|"
    r"side_work|work_sms|direction):? (-?\d+(?:\((?:factor|bytes)\))?|:\s*\S+)",
    re.IGNORECASE,
)
_DEVICE = re.compile(
    r"Rank\s+(\d{1,7})\s+(?:Group\s+(\d{1,7})\s+)?(?:Pid\s+(\d{1,10})\s+)?on\s+(\S+)\s+device\s+(\d{1,4})\s+\[([^\]]*)\]\s*(.*)"
)
_OUT_OF_BOUNDS = re.compile(r"Out of bounds values\s*:\s*(\d+)\s*(OK|FAILED)?", re.IGNORECASE)
_AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*(\S+)")
_FAILURE = re.compile(
    r"Test (?:NCCL |CUDA )?failure\b.*|Test timeout \(.*|# error: \S.*|\bSegmentation fault\b|"
    r"\bCUDA (?:error|failure)\b.*|srun: error: .*|Primary job  terminated normally, but .*|exited on signal \d+.*"
)
_OF_FAILURES = ("Test ", "# error", "Segmentation", "CUDA", "srun", "Primary", "exited")  # one is in every match of it
_RANKS = re.compile(r"\bn[Rr]anks (\d{1,7})\b|\bworld_size\s*[=:]\s*(\d{1,7})\b")
_NAMES = {
    "all_reduce", "all_gather", "reduce_scatter", "reduce", "broadcast", "alltoall", "alltoallv", "sendrecv", "gather",
    "scatter", "hypercube",
}  # fmt: skip
TOO_SLOW = "the average is below 0.9 x NCCL_TESTS_MIN_BW: the tool calls the run FAILED"
_NOT_OURS = {"hypercube": "hypercube", "alltoallv": "alltoallv"}


class Device(NamedTuple):
    """A line of the device list."""

    rank: int
    group: int
    pid: str | None
    host: str
    name: str


@dataclass
class Banner:
    """All that stands around one table.

    Attributes:
        ended: False where a file that tells its own end does not.
        whole_file: the format prints no footer, and nothing of it is missing.
        reporter: the records come from rccl-tests' reporter.
        counted: the ranks that a field of the format says, the likeliest first.
        unnamed: what stands behind rows in columns that no header names.
        copies: banners that came before any row; above 1 when several processes print into one log.
        cut: the device list ends in `...`.
        ranks: what NCCL's own lines say about the ranks of a communicator.
        averages, out_of_bounds: footers, one a process that prints.
    """

    tool: str = "nccl-tests"
    version: str | None = None
    program: str | None = None
    concluded: bool = False
    ended: bool = True
    whole_file: bool = False
    reporter: bool = False
    counted: tuple[int, ...] = ()
    named_below: str | None = None
    command: Command | None = None
    settings: dict[str, Any] = field(default_factory=dict)
    libraries: dict[str, str] = field(default_factory=dict)
    devices: list[Device] = field(default_factory=list)
    copies: int = 0
    cut: bool = False
    ranks: set[int] = field(default_factory=set)
    averages: list[float | None] = field(default_factory=list)
    out_of_bounds: list[tuple[int, str | None]] = field(default_factory=list)
    failures: list[tuple[int, str]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unnamed: list[str] = field(default_factory=list)

    @property
    def footed(self) -> bool:
        """A footer stands below the rows."""
        return bool(self.averages or self.out_of_bounds)

    @property
    def names(self) -> str | None:
        """The program that the log itself names."""
        return self.program or self.named_below


def program_of(word: str) -> str | None:
    """Our name of the collective that a program of nccl-tests runs, or its own where we have none."""
    name = word.rsplit("/", 1)[-1].removesuffix(".exe").removesuffix("_mpi").removesuffix("_perf")
    if name in _NOT_OURS:
        return _NOT_OURS[name]
    try:
        return collective_named(name).name
    except UsageError:
        return None


def bare_name(text: str) -> bool:
    """Whether a line is nothing but the name of a test, as job scripts print it between two."""
    return text.strip(" #=-:*").removesuffix("_perf") in _NAMES


def begins_run(text: str) -> bool:
    """Whether a line stands above a table only, so that it ends a run that already has rows."""
    return (
        "nThread" in text
        or ("nGpus" in text and "minBytes" in text)
        or "Collective test starting" in text
        or ("version" in text.lower() and _VERSION.search(text) is not None)
        or "Writing JSON output to" in text
        or "Using devices" in text
    )  # fmt: skip


def read_line(banner: Banner, number: int, text: str) -> bool:
    """Take what a line around the table says into its banner. Returns whether it said anything."""
    if "NCCL INFO" in text or "RCCL INFO" in text or "world_size" in text:
        _note_ranks(banner, text)
    if "device" in text and (found := _DEVICE.search(text)):
        rank, group, pid, host, device, _, name = found.groups()
        del device
        name, dots, _ = name.strip().partition("...")
        banner.cut = banner.cut or bool(dots)
        banner.devices.append(Device(int(rank), int(group or 0), pid, host, name.strip()))
        return True
    lower = text.lower()  # nearly every line holds none of these words, and looking for a word is quick
    if "bounds" in lower and (found := _OUT_OF_BOUNDS.search(text)) and len(found[1]) < 19:
        banner.out_of_bounds.append((int(found[1]), found[2].upper() if found[2] else None))
    elif "Avg" in text and (found := _AVERAGE.search(text)):
        banner.averages.append(_finite(found[1]))
        if text.rstrip().endswith("FAILED"):
            banner.notes.append(TOO_SLOW)
    elif "test" in text and (found := _STARTING.search(text)):
        banner.program = found[1]
    elif "test" in text and (found := _CONCLUDED.search(text)):
        banner.concluded, banner.named_below = True, found[1]
    elif "version" in lower and (found := _VERSION.search(text)):
        _note_version(banner, found)
    elif "minBytes" in text or "nThread" in text:
        _note_settings(banner, text)
    elif any(word in text for word in _OF_FAILURES) and (found := _FAILURE.search(text)):
        if "errors" not in lower or "asterisk" not in lower:
            banner.failures.append((number, _short(text)))
    elif "asterisks indicate errors" in text:
        banner.tool = "rccl-tests"
    elif "..." in text and banner.devices and text.strip(" #") == "...":
        banner.cut = True
    elif "Reducing maxBytes to" in text:
        banner.notes.append(_short(text.strip(" #")))
    elif "Per-Iteration Report" in text or "Blocking Enabled" in text or "Parallel Init Enabled" in text:
        name, _, words = text.strip(" #").partition(":")
        banner.settings[name.strip().lower().replace(" ", "_").replace("-", "_")] = words.strip()
    else:
        return False
    return True


def _note_ranks(banner: Banner, text: str) -> None:
    for found in _RANKS.finditer(text):
        if ranks := int(found[1] or found[2]):
            banner.ranks.add(ranks)


def _note_version(banner: Banner, found: re.Match[str]) -> None:
    banner.tool, banner.version = found[1].lower(), found[2]
    if hashed := re.match(r"\s*\(([0-9a-f]{4,40})\)", found[3]):
        banner.settings["commit"] = hashed[1]
    for which, value in _LIBRARY.findall(found[3]):
        banner.libraries[which] = library_version(int(value))


def _note_settings(banner: Banner, text: str) -> None:
    if "nThread:" in text or "warmupIters" in text:
        banner.tool = "rccl-tests"  # only its older banner has colons there
    for name, value in _SETTINGS.findall(text):
        key = _SETTING_NAMES.get(name.lower().replace(" ", ""), name)
        amount, _, how = value.lstrip(": ").partition("(")
        banner.settings["step_" + how.rstrip(")") if how else key] = int(amount) if _is_count(amount) else amount
    banner.copies += 1


_SETTING_NAMES = {
    "nthread": "threads", "ngpus": "gpus_per_thread", "ngpus(perproc)": "gpus_per_thread", "minbytes": "minimum_bytes",
    "maxbytes": "maximum_bytes", "warmupiters": "warm_up", "iters": "iterations", "aggiters": "aggregated_iterations",
    "validation": "check", "graph": "replays", "unalign": "unalign",
}  # fmt: skip


def library_version(number: int) -> str:
    """NCCL's version number in words: 22904 is 2.29.4, 2708 (before 2.9) is 2.7.8."""
    if number >= 10000:
        return f"{number // 10000}.{number // 100 % 100}.{number % 100}"
    return f"{number // 1000}.{number // 100 % 10}.{number % 100}"


def settings_of(config: Mapping[str, Any]) -> dict[str, Any]:
    """The banner's settings under our names, from the `config` of a JSON file."""
    names = {
        "nthreads": "threads", "ngpus": "gpus_per_thread", "minimum_bytes": "minimum_bytes",
        "maximum_bytes": "maximum_bytes", "step_factor": "step_factor", "step_bytes": "step_bytes",
        "warmup_iters": "warm_up", "iterations": "iterations", "aggregated_iterations": "aggregated_iterations",
        "validation": "check", "graph": "replays",
    }  # fmt: skip
    return {ours: config[theirs] for theirs, ours in names.items() if isinstance(config.get(theirs), int)}


def _is_count(text: str) -> bool:
    return text.lstrip("-").isdigit() and len(text) < 19


def _finite(token: str) -> float | None:
    try:
        value = float(token)
    except ValueError:
        return None
    return value if abs(value) < 1e300 else None


def _short(text: str) -> str:
    return " ".join(text.split())[:200]
