"""What `commbench pairs --json` says, as far as a figure needs it: the links between ranks, and who is to blame."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import msgspec

from commbench.errors import SweepFileError
from commbench.units import format_size

MOST_RANKS = 4096
_Rank = Annotated[int, msgspec.Meta(ge=0, lt=MOST_RANKS)]
_Rate = Annotated[float, msgspec.Meta(ge=0, le=1e15)]


class _Pair(msgspec.Struct, frozen=True):
    ranks: tuple[_Rank, _Rank]
    bus_bytes_per_second: _Rate | None
    path: str | None = None


class Culprit(msgspec.Struct, frozen=True):
    """A node, rank or link that is to blame, or may be."""

    kind: str
    name: str
    fault: str | None = None
    ranks: tuple[_Rank, ...] = ()
    evidence: str | None = None


class _Matrix(msgspec.Struct, frozen=True):
    hosts: tuple[str, ...] = ()


class _Document(msgspec.Struct, frozen=True):
    verdict: Literal["healthy", "culprit", "could not tell"]
    pairs: tuple[_Pair, ...]
    sentence: str = ""
    culprits: tuple[Culprit, ...] = ()
    open: tuple[Culprit, ...] = ()
    matrix: _Matrix | None = None
    hosts: tuple[str, ...] = ()
    proved: tuple[str, ...] | None = None
    environment: dict[str, Any] = {}
    backend: str | None = None
    message_bytes: int | None = None


@dataclass(frozen=True)
class Links:
    """The measured links.

    Attributes:
        rates: bus bandwidth (bytes per second) of each tested pair, lower rank first.
        hosts: of each rank, empty where the file does not say.
        facts: what else the file says of the run, in words.
    """

    ranks: int
    rates: dict[tuple[int, int], float]
    hosts: tuple[str, ...]
    verdict: str
    sentence: str
    culprits: tuple[Culprit, ...]
    proved: tuple[str, ...] | None
    facts: str


def read_links(path: str | Path) -> Links:
    """The links that `commbench pairs --json` found, or a file of `-m commbench.pairs -J`, judged here.

    Raises:
        SweepFileError: the file is not there, or neither of the two.
    """
    try:
        content = Path(path).read_bytes()
    except (OSError, ValueError) as error:
        raise _unreadable(path, getattr(error, "strerror", None) or str(error)) from None
    if content.startswith(b'{"record":"pairs"'):
        content = _judged(path)
    try:
        return _links(msgspec.json.decode(content, type=_Document))
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise _unreadable(path, str(error)[:200]) from None


def _links(document: _Document) -> Links:
    rates = {
        (min(pair.ranks), max(pair.ranks)): pair.bus_bytes_per_second
        for pair in document.pairs
        if pair.bus_bytes_per_second and pair.ranks[0] != pair.ranks[1]
    }
    hosts = document.hosts or (document.matrix.hosts if document.matrix else ())
    ranks = max(
        [len(hosts), *(high + 1 for _, high in rates), *(max(c.ranks) + 1 for c in document.culprits if c.ranks)]
    )
    facts = [str(document.environment.get("device") or ""), document.backend or ""]
    facts += [f"messages of {format_size(document.message_bytes)}"] if document.message_bytes else []
    return Links(
        ranks, rates, hosts if len(hosts) == ranks else (), document.verdict, document.sentence, document.culprits,
        document.proved, ", ".join(fact for fact in facts if fact),
    )  # fmt: skip


def _judged(path: str | Path) -> bytes:
    """The document of a file of pairs, as `commbench pairs --json` prints it."""
    from commbench.pairing.judged import judged
    from commbench.pairing.reading import read_pairs
    from commbench.showing.pairs import to_json

    pairs = read_pairs(path)
    return to_json(pairs, judged(pairs)).encode()


def _unreadable(path: str | Path, found: str) -> SweepFileError:
    return SweepFileError(
        "the pairs cannot be read",
        expected="a file of `-m commbench.pairs -J FILE`, or of `commbench pairs FILE --json`",
        found=f"{path}: {found}", fix="commbench pairs FILE --json > pairs.json",
    )  # fmt: skip
