"""A variable that reached some ranks and not others is the commonest way to measure something else than intended."""

from collections.abc import Mapping, Sequence
from typing import Any


def differing(everyone: Sequence[Mapping[str, str]]) -> dict[str, list[dict[str, Any]]]:
    """Variables that not all ranks have alike: by name, each value (None: not set) with the ranks that have it."""
    names = sorted({name for variables in everyone for name in variables})
    return {
        name: [
            {"value": value, "ranks": [rank for rank, variables in enumerate(everyone) if variables.get(name) == value]}
            for value in dict.fromkeys(variables.get(name) for variables in everyone)
        ]
        for name in names
        if len({variables.get(name) for variables in everyone}) > 1
    }
