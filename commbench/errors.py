"""The exception tree. Everything commbench raises on purpose is a CommbenchError; only a `main` catches it.

CommbenchError            exit 2 unless the subclass says otherwise
 +-- UsageError           an option or argument makes no sense
 +-- LaunchError          the launcher, its variables or the devices do not fit together
 +-- SweepFileError       a sweep file cannot be read, written or resumed
 +-- MeasuringError       a collective, a rank or a limit ended a sweep before its plan did
 +-- RefusedModelError    no model describes the data, so nothing can be predicted (exit 3)
"""

from collections.abc import Callable
from functools import partial


class CommbenchError(Exception):
    """An error in four parts, so that its reader can act on it.

    Args:
        wrong: what went wrong, in one clause.
        expected: what was expected.
        found: what was found, with values and units.
        fix: what to do about it.
    """

    exit_code = 2
    alone = False  # set where one rank of many meets an error that the others cannot know of

    def __init__(self, wrong: str, *, expected: str, found: str, fix: str) -> None:
        super().__init__(wrong, expected, found, fix)
        self.wrong, self.expected, self.found, self.fix = wrong, expected, found, fix

    def __reduce__(self) -> tuple[Callable[..., "CommbenchError"], tuple[str], dict[str, object]]:
        """Pickled with its parts: what rank 0 meets is raised on every rank."""
        parts = partial(type(self), expected=self.expected, found=self.found, fix=self.fix)
        return parts, (self.wrong,), self.__dict__

    def __str__(self) -> str:
        return f"{self.wrong}\n  expected: {self.expected}\n  found:    {self.found}\n  to do:    {self.fix}"


class UsageError(CommbenchError):
    """An option or argument that makes no sense."""


class LaunchError(CommbenchError):
    """Launcher, environment variables and devices do not fit together."""


class SweepFileError(CommbenchError):
    """A sweep file that cannot be read, written or resumed."""


class MeasuringError(CommbenchError):
    """A collective, a rank or a limit ended the sweep before its plan did."""


class RefusedModelError(CommbenchError):
    """No model describes the data, or none answers the question."""

    exit_code = 3
