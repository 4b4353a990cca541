"""Names of collectives and dtypes as other tools spell them, None where we have no such thing."""

from commbench.collectives import collective_named
from commbench.dtypes import dtype_named
from commbench.errors import UsageError


def our_collective(name: str) -> str | None:
    """Our name of a collective: `AllReduce`, `all_gather_into_tensor`, `allg` ..."""
    try:
        return collective_named(name).name
    except UsageError:
        return None


def our_dtype(name: str) -> str | None:
    """Our name of a dtype: `fp32`, `bfloat16`, `double` ..."""
    try:
        return dtype_named(name)
    except UsageError:
        return None
