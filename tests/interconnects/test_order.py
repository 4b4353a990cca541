"""Which launch comes when."""

from pathlib import Path

from commbench.interconnects.order import order
from commbench.launching.settings import parse_settings

AB = parse_settings(["sm,tcp"])


def test_launches_are_interleaved() -> None:
    """A B B A A B: each setting is first as often as the other, or once more."""
    steps = order(AB, 3, Path("r"))
    assert [step.setting.name for step in steps] == ["sm", "tcp", "tcp", "sm", "sm", "tcp"]


def test_each_setting_has_a_folder() -> None:
    files = [str(step.file) for step in order(AB, 2, Path("r"))]
    assert files == ["r/sm/1.jsonl", "r/tcp/1.jsonl", "r/tcp/2.jsonl", "r/sm/2.jsonl"]
