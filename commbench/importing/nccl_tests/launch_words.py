"""A launch line as it may stand in a sweep file: what it starts, without the values that are nobody's business."""

import re
import shlex

from commbench.measuring.facts import allowed_variables

_HIDDEN = "..."
_ASSIGNMENT = re.compile(r"(?<![\w-])([A-Za-z_]\w*)=([^,]*)")
_PAIRED = frozenset({"-genv", "-env"})  # NAME and VALUE follow as words of their own


def shown_launch(text: str) -> str:
    """The line, with `...` for the value of each variable that is not one of those that decide how ranks talk."""
    words = shlex.split(text)
    shown: list[str] = []
    for place, word in enumerate(words):
        if place > 1 and words[place - 2] in _PAIRED:
            shown.append(_value(words[place - 1], word))
        else:
            shown.append(_ASSIGNMENT.sub(lambda found: f"{found[1]}={_value(found[1], found[2])}", word))
    return shlex.join(shown)


def _value(name: str, value: str) -> str:
    return value if allowed_variables({name: value}) else _HIDDEN
