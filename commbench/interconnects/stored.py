"""What lies in the folder from an earlier, interrupted run of the same line."""

import os
import shlex
import socket
from pathlib import Path
from typing import Literal

import msgspec

from commbench.errors import SweepFileError, UsageError
from commbench.interconnects.order import Step
from commbench.sweepfile.reader import read_sweeps

State = Literal["missing", "unfinished", "finished"]
LINE = "interconnects.json"


# Options of torchrun that differ between hosts which run the same line otherwise.
_OF_ONE_HOST = ("--node-rank", "--local-addr")


def same_everywhere(launch: str) -> str:
    """A launch line without what says which host it is on."""
    kept: list[str] = []
    words = iter(shlex.split(launch))
    for word in words:
        name, equals, _ = word.replace("_", "-").partition("=")
        if name not in _OF_ONE_HOST:
            kept.append(word)
        elif not equals:
            next(words, None)
    return shlex.join(kept)


class Asked(msgspec.Struct, frozen=True, kw_only=True):
    """The line that a folder belongs to; another line may not add to it."""

    launch: str
    program: str
    arguments: tuple[str, ...]
    settings: dict[str, dict[str, str]]


def claim(folder: Path, asked: Asked) -> None:
    """Make the folder, or find it made by the same line.

    Raises:
        UsageError: it belongs to another line, or cannot be made or read.
    """
    file = folder / LINE
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if not file.exists():
            whole = file.with_name(f".{file.name}-{os.getpid()}-{socket.gethostname()}")  # other hosts may look at it
            whole.write_bytes(msgspec.json.format(msgspec.json.encode(asked), indent=2) + b"\n")
            whole.replace(file)
            return
        content = file.read_bytes()
    except (OSError, ValueError) as error:
        raise UsageError(
            "the folder for the results cannot be used", expected="a folder that can be written",
            found=f"{folder}: {getattr(error, 'strerror', None) or error}", fix="choose another folder after -J",
        ) from None  # fmt: skip
    try:
        before = msgspec.json.decode(content, type=Asked)
    except msgspec.MsgspecError as error:
        raise UsageError(f"{file} cannot be read", expected="what an earlier run of interconnects wrote",
                         found=str(error), fix="choose another folder after -J") from None  # fmt: skip
    fields = Asked.__struct_fields__
    apart = [
        f"{name}: {_shown(getattr(before, name))} then, {_shown(getattr(asked, name))} now"
        for name in fields
        if getattr(before, name) != getattr(asked, name)
    ]
    if apart:
        raise UsageError(
            "the folder holds the results of another line",
            expected="the same launch, program, settings and arguments, to continue what was interrupted",
            found="\n            ".join(apart),
            fix="choose another folder after -J",
        )


def state_of(step: Step) -> State:
    """How far a step's file has come.

    Raises:
        SweepFileError: it is void, or damaged.
    """
    if not step.file.exists() or step.file.stat().st_size == 0:
        return "missing"
    sweeps = read_sweeps(step.file)
    void = next((void for sweep in sweeps for void in sweep.voids), None)
    if void is not None:
        raise SweepFileError(
            "an earlier launch is void",
            expected="launches whose setting took, or none yet",
            found=f"{step.file}: {void.reason}",
            fix="find out why, then move that file away or choose another folder after -J",
        )
    return "finished" if all(sweep.status == "complete" for sweep in sweeps) else "unfinished"


def _shown(value: object) -> str:
    return msgspec.json.encode(value).decode()
