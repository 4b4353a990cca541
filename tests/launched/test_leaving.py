"""A run that went well ends well."""

import pytest

from .launching import sweep

pytestmark = pytest.mark.gloo


def test_a_busy_watch_does_not_abort_a_run_that_went_well() -> None:
    """A thread that the interpreter ends inside the store's C++ takes the process with it: SIGABRT after the result."""
    result = sweep(2, "--plan", program="tests.launched.busy_watch")
    assert result.returncode == 0, result.stderr
