"""Output of nvbandwidth: copies over links, text or JSON. It is recognised and refused, as it times no collective."""

import re
from collections.abc import Sequence

from commbench.importing.foreign import Line, Reading, Reject, Stated

NAME = "nvbandwidth"
MARKS = ("nvbandwidth",)  # it stands in any such log
_BANNER = re.compile(r"\bnvbandwidth Version\b|\"nvbandwidth\"\s*:\s*\{")
_REASON = "nvbandwidth times copies over links, and no collective: nothing of it is imported"


def opens(text: str) -> bool:
    """Whether a line begins its output: the banner, or the object of its JSON."""
    return _BANNER.search(text) is not None


def recognises(lines: Sequence[Line]) -> bool:
    """The banner, or the object of its JSON."""
    return any(opens(line.text) for line in lines)


def read(lines: Sequence[Line], _: Stated) -> Reading:
    """One reject with its reason for each output."""
    return Reading(rejects=tuple(Reject(line.number, _REASON) for line in lines if opens(line.text)))
