"""Which launch comes when, and where it writes."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from commbench.launching.settings import Setting


@dataclass(frozen=True)
class Step:
    """One launch of one setting.

    Attributes:
        number: of the setting's launches, from 1.
        file: the sweep file that it writes.
    """

    setting: Setting
    number: int
    file: Path

    def __str__(self) -> str:
        return f"{self.setting.name}, launch {self.number}"


def order(settings: Sequence[Setting], launches: int, folder: Path) -> tuple[Step, ...]:
    """A B B A A B ...: every second round runs backwards, so that no setting always meets a warmer machine."""
    return tuple(
        Step(setting, number + 1, folder / setting.name / f"{number + 1}.jsonl")
        for number in range(launches)
        for setting in (settings if number % 2 == 0 else reversed(settings))
    )
