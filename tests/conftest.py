"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    """A shell ignores SIGINT in what it starts in the background, and the programs under test would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
