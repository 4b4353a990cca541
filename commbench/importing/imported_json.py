"""The document of `commbench import --json`, in pieces: a log of 10 MB makes a document of 60."""

from collections.abc import Iterator
from typing import Any

import msgspec

from commbench.importing.imported import Imported, ImportedRun
from commbench.importing.sweeps import summary
from commbench.sweepfile.records import Header, Measurement, Transport

_AT_ONCE = 500
_ENCODER = msgspec.json.Encoder()


def pieces(imported: Imported) -> Iterator[str]:
    """`{"sweeps": [{header, summary, measurements}], "rejects": [{file, line, reason}], "warnings": [...]}`."""
    yield '{"sweeps":['
    for number, one in enumerate(imported.runs):
        yield "," if number else ""
        yield from _sweep(one)
    rejects = [{"file": log.name, **reject._asdict()} for log in imported.logs for reject in log.reading.rejects]
    yield f'],"rejects":{_text(rejects)},"warnings":{_text(list(imported.warnings()))}}}\n'


def _sweep(one: ImportedRun) -> Iterator[str]:
    """One sweep: the fields of its header and summary first, then its measurements."""
    records = one.records()
    head = next(records)
    assert isinstance(head, Header)
    fields = {**msgspec.to_builtins(head), **summary(one.run), "file": one.file}
    fields.pop("record", None)
    yield _text(fields)[:-1]
    yield ',"measurements":['
    waiting: list[Measurement] = []
    first = True
    transports: list[Any] = []
    for record in records:
        if isinstance(record, Measurement):
            waiting.append(record)
            if len(waiting) == _AT_ONCE:
                yield ("" if first else ",") + _text(waiting)[1:-1]
                waiting, first = [], False
        elif isinstance(record, Transport):
            transports.append(msgspec.to_builtins(record))
    if waiting:
        yield ("" if first else ",") + _text(waiting)[1:-1]
    proved = sorted({path for transport in transports for path in transport["proved"] or ()})
    yield f'],"transports":{_text(transports)},"proved":{_text(proved or None)}}}'


def _text(value: Any) -> str:
    return _ENCODER.encode(value).decode()
