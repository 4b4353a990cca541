"""What stands before every line of a log: numbers of `grep -n`, hosts of pdsh, pods of stern, quotes of a mail.

Before a single line such words may be the tool's own; before all of them they are somebody's wrapping.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

_NUMBERED = (  # (what stands before a line, whether every line has one)
    (re.compile(r"(?:[\w./-]{1,200}[.]\w{1,10}:)?(\d{1,9}):"), False),  # grep -n, grep -Hn
    (re.compile(r" {0,8}(\d{1,9})\t"), True),  # cat -n
)
_END = r"(?: |(?=\s*$))"
_TAGS = tuple(
    re.compile(pattern)
    for pattern in (
        # pdsh and clush, a host with a rank behind it, an address
        rf"([A-Za-z][\w.-]{{0,80}}(?:\[\d{{1,7}}\]| \d{{1,7}})?):{_END}",
        rf"(\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d{{1,6}})?):{_END}",
        rf"\[([A-Za-z][\w.@-]{{0,80}})\]:?{_END}",
        r"([A-Za-z][\w.@-]{0,80})\t",  # parallel --tag
        rf"([a-z0-9][a-z0-9.]{{0,60}}-[a-z0-9.-]{{1,80}} [a-z0-9][a-z0-9-]{{0,60}}){_END}",  # stern
        r"()(?:> ?)+",  # quoted in a mail or an issue
    )
)
# comments that tools print at the beginning of a line: what stands before them was put there by somebody else
_ANCHOR = re.compile(
    r"#\s*(?:nThread |Rank +\d|Using devices|size +count|\(B\) +\(|Out of bounds|Avg bus|"
    r"Collective test|[nr]ccl-tests |(?:OSU|OMB|MPI) |Size |Datatype: |Benchmarking |#processes )"
)
_ANCHORS, _KIND = 2, "kind"
_TIME = re.compile(
    r"\d{4}-\d\d-\d\d[T ]?[\d:.,+-]{0,40}Z?|\d\d?:\d\d:\d\d[\d.,]{0,10}|\d{10,20}|(?<![\d.])\d{1,20}\.\d{3,9}(?![\d.])"
)
_LEVELS = frozenset({"DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "CRITICAL"})
_SAMPLE, _FEW = 3000, 5  # lines that are looked at for numbers before them, and how many there must be
_FEWEST, _SHARE, _LINES_A_WRITER = 3, 0.9, 3  # tagged lines there must be, of all, and of each writer in the mean


def numbers_of_lines(raws: Sequence[str]) -> re.Pattern[str] | None:
    """What grep -n or cat -n put before every line; None where they did not.

    Labels of ranks look the same and repeat; numbers of lines never do.
    """
    sample = raws[:_SAMPLE]
    for pattern, step in _NUMBERED:
        found = [pattern.match(raw) for raw in sample[:_FEW]]
        if len(found) < _FEW or not all(found):
            continue
        numbers = [int(match[1]) if (match := pattern.match(raw)) else 0 for raw in sample]
        gaps = [later - earlier for earlier, later in pairwise(numbers)]
        if all(gap == 1 if step else gap > 0 for gap in gaps):
            return pattern
    return None


def tags_of_writers(raws: Sequence[str]) -> re.Pattern[str] | None:
    """The pattern of what names the writer before nearly every line, as its first group; None without one."""
    sample = [raw for raw in raws[:_SAMPLE] if raw.strip()]
    if len(sample) < _FEWEST:
        return None
    for pattern in _TAGS:
        writers = [match[1] for raw in sample if (match := pattern.match(raw))]
        several = len({*writers} - _LEVELS) * _LINES_A_WRITER <= len(writers)
        if several and len(writers) >= max(_FEWEST, _SHARE * len(sample)):
            return pattern
    return None


def tags_of_a_kind(raws: Sequence[str], known: Callable[[str], str]) -> re.Pattern[str] | None:
    """The pattern of what stands before the comments of a tool, and before nearly every line, whatever it is.

    Args:
        known: takes off what is known to stand before a line.
    """
    sample = [raw for raw in raws[:_SAMPLE] if raw.strip()]
    before = [raw[: found.start()].rstrip() for raw in sample if (found := _ANCHOR.search(raw))]
    if len(before) < _ANCHORS or not all(before):
        return None
    if any(known(raw).lstrip().startswith("#") for raw in sample if _ANCHOR.search(raw)):
        return None
    parts = re.findall(r"\d+|[ \t]+|[^\d \t]+", before[0][:200])
    shape = "".join(
        r"\d{1,20}" if part.isdigit() else "[ \t]{1,40}" if part.isspace() else re.escape(part) for part in parts
    )
    pattern = re.compile(rf"(?P<{_KIND}>{shape})[ \t]?", re.ASCII)
    return pattern if sum(bool(pattern.match(raw)) for raw in sample) >= _SHARE * len(sample) else None


def untagged(raw: str, tags: re.Pattern[str]) -> tuple[str, str]:
    """The writer of a raw line, and the line behind its tag; a time and a level of a logger are no writer."""
    match = tags.match(raw)
    if match is None:
        return "", raw
    writer = " ".join(_TIME.sub("", match[1]).split()) if _KIND in tags.groupindex else match[1]
    return "" if writer in _LEVELS else writer, raw[match.end() :]
