"""What the user states about a log, beside what the log says itself.

A statement fills what the log leaves open, and is marked as the user's. Where the log says otherwise the log counts,
and a note says that the statement was not used.
"""

from typing import NamedTuple

from commbench.importing.foreign import Stated

BY_USER = "stated by the user"


class Ranks(NamedTuple):
    """Ranks of one collective (None: not known), how they are known, and what is to be said of it."""

    number: int | None
    basis: str | None
    notes: tuple[str, ...] = ()


class Name(NamedTuple):
    """A collective (None: not known), how it is known, those that the log allows, and what is to be said of it."""

    collective: str | None
    basis: str | None
    candidates: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


_ALONE = "one rank: nothing crosses a link, and no bandwidth of one follows"


def ranks(stated: Stated, found: int | None, basis: str | None, allowed: tuple[int, int] | None = None) -> Ranks:
    """The number of ranks from a log that says `found`, or whose figures allow a range, and a user's statement."""
    said = _ranks(stated, found, basis, allowed)
    return said if said.number != 1 else said._replace(notes=(*said.notes, _ALONE))


def _ranks(stated: Stated, found: int | None, basis: str | None, allowed: tuple[int, int] | None = None) -> Ranks:
    wanted = stated.world_size
    if found is None and wanted is not None:
        if allowed is None or allowed[0] <= wanted <= allowed[1]:
            return Ranks(wanted, BY_USER)
        span = f"{allowed[0]}" if allowed[0] == allowed[1] else f"{allowed[0]} to {allowed[1]}"
        return Ranks(wanted, BY_USER, (f"the printed bandwidths fit {span} ranks, not the {wanted} of --world-size",))
    if found is None and allowed is not None and allowed[0] == allowed[1]:
        return Ranks(allowed[0], "factor")
    if found is not None and wanted not in (None, found):
        return Ranks(found, basis, (f"--world-size {wanted} is not used: the log says {found} ranks",))
    return Ranks(found, basis if found is not None else None)


def collective(stated: Stated, found: str | None, basis: str | None, candidates: tuple[str, ...] = ()) -> Name:
    """The collective from a log that names `found`, or allows several, and a user's statement."""
    wanted = stated.collective
    if found is None and wanted is not None:
        if not candidates or wanted in candidates:
            return Name(wanted, BY_USER)
        fitting = ", ".join(candidates)
        return Name(wanted, BY_USER, notes=(f"the printed bandwidths fit {fitting}, not the {wanted} of --collective",))
    if found is not None and wanted not in (None, found):
        return Name(found, basis, notes=(f"--collective {wanted} is not used: the log says {found}",))
    return Name(found, basis if found is not None else None, () if found else candidates)
