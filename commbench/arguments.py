"""The argument parser of every verb: argparse, with our four-part errors instead of its usage text."""

import argparse
import sys
from collections.abc import Sequence
from typing import Any, NoReturn

from commbench.errors import UsageError

_SHORT = 240  # characters of usage that still help inside an error


class Parser(argparse.ArgumentParser):
    """Reads options in full only, with `-` or `_` between their words (nccl-tests writes `--agg_iters`).

    Args:
        program: as the user started it, such as `commbench show`.
        description: one line above the options in the help.
        epilog: lines below them.
    """

    def __init__(self, program: str, description: str, epilog: str = "") -> None:
        super().__init__(
            prog=program, description=description, epilog=epilog, allow_abbrev=False,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )  # fmt: skip

    def parse_known_args(  # type: ignore[override]  # argparse's own overloads
        self, args: Sequence[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        """As argparse's; every other way of parsing goes through here."""
        words = list(sys.argv[1:] if args is None else args)
        options = words.index("--") if "--" in words else len(words)
        return super().parse_known_args([*map(_dashed, words[:options]), *words[options:]], namespace)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError."""
        usage = " ".join(self.format_usage().split()[1:])
        raise UsageError(
            f"the options of {self.prog} cannot be read",
            expected=usage if len(usage) <= _SHORT else f"options of {self.prog}",
            found=message,
            fix=f"{self.prog} --help lists them",
        )


def _dashed(word: str) -> str:
    """A long option with `-` between its words; anything else as it is."""
    if not word.startswith("--"):
        return word
    name, equals, value = word.partition("=")
    return name.replace("_", "-") + equals + value
