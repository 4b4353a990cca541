"""How a run of nccl-tests goes, seen in its lines: what it drives, what it was cut down to, how it fails and ends.

Rows are none of its business; `commbench.importing.nccl_family.text` reads those.
"""

import re
from collections import deque

_PLAN = re.compile(r"minBytes (\d+) maxBytes (\d+) step: (\d+)\s*\((factor|bytes)\)")
_FIRST_RANK = re.compile(r"#\s*Rank\s+0\b.*\bon\s+\S+\s+device\s+\d+")
_REDUCED = re.compile(r"Reducing maxBytes to (\d+) due to memory limitation")
_BOUNDS = re.compile(r"Out of bounds values\s*:\s*(\d+)\s+(OK|FAILED)")
_AVERAGE = re.compile(r"Avg bus bandwidth\s*:\s*(\S+)(?:\s+(OK|FAILED))?")
_FAILURE = re.compile(
    r"Test NCCL failure|Test CUDA failure|Test failure|Test timeout|Invalid number of GPUs|[Ff]ailed to (?:open|load)"
    r"|error while loading shared libraries|NCCL WARN|not enough slots|srun: error|CUDA driver version is insufficient"
    r"|command not found|execve|cannot find|could not find|attempt to run as root"
    r"|[Ss]egmentation fault|[Oo]ut of memory"
)
_UNKNOWN_OPTION = re.compile(r"invalid option '|^USAGE:")
_REPLACED = re.compile(r"invalid (?:type|op) \S+, defaulting to")
_NO_JSON = re.compile(r"skipping json output; (.*)")
_LAST_WORDS = 5  # lines of a failure that a message repeats
_LONGEST = 300  # characters of each


class Conduct:
    """Fed with every line of one run, of both streams."""

    def __init__(self) -> None:
        self.plan: tuple[int, int, int, bool] | None = None  # minBytes, maxBytes, step, whether it is a factor
        self.reduced_to: int | None = None
        self.wrong: int | None = None  # of the footer: ranks and rows with wrong data
        self.concluded = False
        self.too_slow: str | None = None  # the average that is below NCCL_TESTS_MIN_BW
        self.no_json: str | None = None
        self.usage: str | None = None  # the line that shows that an option was not understood
        self.replaced: str | None = None  # the line that says that a type or operator was replaced by another
        self.failures: list[str] = []
        self._last: deque[str] = deque(maxlen=_LAST_WORDS)
        self.alone = 0  # processes that believe to be rank 0: several have not met, and each measures itself

    def see(self, text: str) -> None:
        """Look at a line."""
        stripped = text.strip()[:_LONGEST]
        if not stripped.strip("-=*#"):
            return
        if not stripped[0].isdigit():
            self._last.append(stripped)
        if _FIRST_RANK.search(text):
            self.alone += 1
        elif match := _PLAN.search(text):
            self.plan = (int(match[1]), int(match[2]), int(match[3]), match[4] == "factor")
        elif match := _REDUCED.search(text):
            self.reduced_to = int(match[1])
        elif match := _BOUNDS.search(text):
            self.wrong = int(match[1])
        elif match := _AVERAGE.search(text):
            self.concluded = True
            self.too_slow = match[1] if match[2] == "FAILED" else None
        elif match := _NO_JSON.search(text):
            self.no_json = match[1]
        elif _REPLACED.search(text):
            self.replaced = self.replaced or stripped
        elif _UNKNOWN_OPTION.search(stripped):
            self.usage = self.usage or stripped
        elif _FAILURE.search(text):
            self.failures.append(stripped)

    @property
    def why(self) -> str:
        """What it said about its failure: the first line that names one, else its last lines."""
        if self.failures:
            return self.failures[0]
        return "; ".join(self._last) or "it printed nothing"

    def sizes(self) -> list[int]:
        """The sizes it was asked for, in nccl-tests' order; empty where it did not say (or there are too many)."""
        if self.plan is None:
            return []
        size, last, step, factor = self.plan
        if size < 1 or step < (2 if factor else 1) or (not factor and (last - size) // step > 1 << 20):
            return []
        sizes = []
        while size <= last:
            sizes.append(size)
            size = size * step if factor else size + step
        return sizes

    def beyond_memory(self) -> list[int]:
        """The sizes that were asked for and left out because memory does not hold them."""
        if self.reduced_to is None:
            return []
        return [size for size in self.sizes() if size > self.reduced_to]
