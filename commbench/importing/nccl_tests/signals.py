"""Ctrl-C, SIGTERM and a closed terminal while a program runs: noted, so that the tree ends in order and rows stay."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@contextmanager
def caught() -> Iterator[Callable[[], int | None]]:
    """Note the first of these signals instead of dying of it; a second one ends us as usual. Yields how to ask."""
    taken: list[int] = []
    before = {number: signal.getsignal(number) for number in _SIGNALS}

    def note(number: int, _: FrameType | None) -> None:
        taken.append(number)
        for other in _SIGNALS:
            if before[other] is not signal.SIG_IGN:
                signal.signal(other, signal.default_int_handler)

    for number in _SIGNALS:
        if before[number] is not signal.SIG_IGN:  # nohup
            signal.signal(number, note)
    try:
        yield lambda: taken[0] if taken else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
