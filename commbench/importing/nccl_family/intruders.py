"""What libraries print into the middle of a row: the program prints half of it, runs, and prints the rest."""

import re

_TAG = r"(?:\[[^\[\]]{0,80}\](?:<std(?:out|err)>:)?\s*)?"  # of the launcher, before a line that it glued to another
_HOST = r"(?<![\w.-])[\w.-]{1,255}"  # from its first letter only, or a long line takes the square of its length
NCCL_LINE = re.compile(
    rf"{_TAG}{_HOST}:(?:\d{{1,10}}:\d{{1,10}} \[-?\d{{1,6}}\] .*| Test (?:(?:NCCL|CUDA) )?(?:failure|timeout).*)"
)
_GLUED_FIGURE = re.compile(r"-1|N/A|\d+(?:\.\d+)?(?:e[+-]\d\d)?(?=[A-Za-z])")  # of a row, before the host's name
_OTHERS = re.compile(r"(?:NCCL version|RCCL version|libibverbs:|NET/OFI|NCCL INFO|NCCL WARN|CUDA WARN)")


def without_intruder(text: str) -> tuple[str, str]:
    """A row's own text and what a library printed into the middle of it."""
    cut = len(text)
    if found := NCCL_LINE.search(text):
        cut = found.start()
        glued = _GLUED_FIGURE.match(found[0])
        cut += glued.end() if glued else 0
    if found := _OTHERS.search(text, 0, cut):
        cut = found.start()
    marker = text.find("#", 1, cut)
    cut = marker if marker > 0 else cut
    return text[:cut], text[cut:]
