"""Models in a file of their own (`model.json`), so that what reads them need not fit again.

Format versions:
    1  the first.
"""

from pathlib import Path
from typing import Any

import msgspec

from commbench.errors import SweepFileError
from commbench.modelling.model import Model, ModelKey
from commbench.modelling.soundness import flaw

FORMAT = 1
_BEGINNING = b'{"record":"models"'
_START = 64  # bytes that hold the beginning, however it is indented


class _File(msgspec.Struct, frozen=True, kw_only=True, tag_field="record", tag="models"):
    format: int
    models: tuple[Any, ...]


def encode(models: tuple[Model, ...]) -> bytes:
    """The file's content: one JSON document, its key `record` first."""
    built = tuple({**msgspec.to_builtins(model), "key": model.key._asdict()} for model in models)
    return msgspec.json.format(msgspec.json.encode(_File(format=FORMAT, models=built)), indent=1) + b"\n"


def save(models: tuple[Model, ...], path: str | Path) -> None:
    """Write models to a file. One that holds models is replaced, any other file stays as it is.

    Raises:
        SweepFileError: it cannot be written, or is something else.
    """
    file = Path(path)
    try:
        if file.exists() and not is_saved_models(file):
            raise SweepFileError(
                "models are not saved over another file", expected="a new file, or one that --save wrote",
                found=f"{path} exists and holds something else", fix="name another file after --save",
            )  # fmt: skip
        file.write_bytes(encode(models))
    except OSError as error:
        raise SweepFileError(
            "models cannot be saved", expected="a path that can be written", found=f"{path}: {error.strerror}",
            fix="name another file after --save",
        ) from None  # fmt: skip


def load(path: str | Path) -> tuple[Model, ...]:
    """Read models back.

    Raises:
        SweepFileError: the file is not there, holds no models, or those of another format.
    """
    try:
        content = Path(path).read_bytes()
    except OSError as error:
        raise SweepFileError(
            "models cannot be read", expected="a file written by commbench fit --save",
            found=f"{path}: {error.strerror}", fix="check the path",
        ) from None  # fmt: skip
    return decode(content, str(path))


def is_saved_models(path: str | Path) -> bool:
    """Whether a file is one that `save` wrote. A pipe, which cannot be read twice, is not.

    Raises:
        OSError: it cannot be read.
    """
    file = Path(path)
    if not file.is_file():
        return False
    with file.open("rb") as stream:
        return b"".join(stream.read(_START).split()).startswith(_BEGINNING)


def decode(content: bytes, name: str) -> tuple[Model, ...]:
    """As `load`, from the file's bytes."""
    try:
        file = msgspec.json.decode(content, type=_File)
        if file.format != FORMAT:
            raise SweepFileError(
                "models of another format cannot be read", expected=f"format {FORMAT}",
                found=f"{name}: format {file.format}", fix="fit the sweeps again with this version (commbench fit)",
            )  # fmt: skip
        return tuple(_model(built) for built in file.models)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError, TypeError, KeyError) as error:
        raise SweepFileError(
            "models cannot be read", expected="a file written by commbench fit --save",
            found=f"{name}: {str(error)[:200]}", fix="fit the sweeps again (commbench fit ... --save FILE)",
        ) from None  # fmt: skip


def _model(built: dict[str, Any]) -> Model:
    key = built["key"]
    fields = [key[name] for name in ModelKey._fields]
    model = msgspec.convert({**built, "key": fields}, Model)
    if wrong := flaw(model):
        raise msgspec.ValidationError(f"the model of {str(model.key)[:80]} has {wrong}")
    return model
