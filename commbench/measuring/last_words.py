"""Where a dying run says why: standard error, and the file from which torchrun prints a failure's root cause."""

import os
import sys
import time
from pathlib import Path

import msgspec


def say(message: str) -> None:
    """Write last words past Python's buffers: the main thread may hold their locks and never run again."""
    os.write(sys.__stderr__.fileno() if sys.__stderr__ else 2, f"commbench: {message}\n".encode())
    leave_error_file(message)


def leave_error_file(message: str) -> None:
    """Write `message` into TORCHELASTIC_ERROR_FILE, if torchrun gave one."""
    path = os.environ.get("TORCHELASTIC_ERROR_FILE")
    if not path:
        return
    # torchrun shows py_callstack; some of its versions show message
    record = {
        "message": {"message": message, "extraInfo": {"py_callstack": message, "timestamp": str(int(time.time()))}}
    }
    try:
        Path(path).write_bytes(msgspec.json.encode(record))
    except OSError:
        return  # the words on standard error are all that can be had
