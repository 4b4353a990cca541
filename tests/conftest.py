"""What holds for all tests."""

import signal


def pytest_configure() -> None:
    """A shell starts what runs in the background with SIGINT ignored, and the programs under test would inherit that."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
