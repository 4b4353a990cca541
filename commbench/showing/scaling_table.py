"""Laws over numbers of ranks for a person: which law, what its steps and links cost, and how far off it was."""

from collections.abc import Iterable, Sequence

from commbench.modelling.model import Model
from commbench.modelling.scaling import Scaling, scalings
from commbench.showing.grid import Cells, grid
from commbench.units import GIGABYTE_PER_SECOND, MICROSECOND

_HEAD = (
    "set", "collective", "place", "mode", "ranks", "law", "launch\nus", "hop\nus", "hop between\nhosts, us",
    "link\nGB/s", "between\nhosts, GB/s", "error\n%", "also possible",
)  # fmt: skip
_TITLE = (
    "scaling over ranks: t = launch + steps x hop + share of the message / link; error: on the largest number of\n"
    "ranks, predicted from the others\n"
)


def scaling_pages(models: Sequence[Model]) -> Iterable[str]:
    """The table, if three or more numbers of ranks were measured."""
    found = scalings(models)
    if found:
        yield _TITLE + "\n" + grid(_HEAD, [_row(law) for law in found], left={0, 1, 2, 3, 4, 5, 12})


def _row(law: Scaling) -> Cells:
    key, constants = law.key, law.constants
    return (
        key.label or "", key.collective, key.placement or "", key.mode or "", ", ".join(map(str, law.world_sizes)),
        law.law.name, _time(constants.launch), _time(constants.hop), _time(constants.host_hop) if constants.host_hop
        else "", _rate(constants.link), _rate(constants.host_link), f"{100 * law.error:.1f}",
        ", ".join(other.name for other, _ in law.others),
    )  # fmt: skip


def _time(seconds: float) -> str:
    return f"{seconds / MICROSECOND:.3g}"


def _rate(seconds_per_byte: float) -> str:
    return f"{1.0 / seconds_per_byte / GIGABYTE_PER_SECOND:.3g}" if seconds_per_byte else ""
