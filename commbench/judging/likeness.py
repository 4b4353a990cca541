"""The same machine and settings otherwise? Only then is a difference the interconnect's (or whatever was changed)."""

from collections.abc import Collection, Sequence
from typing import Any

import msgspec

from commbench.errors import UsageError
from commbench.judging.sides import Side
from commbench.sweepfile.records import Header

MACHINE = ("hosts", "device", "cpu", "torch", "cuda", "nccl", "mpi")
SETTINGS = ("buffers", "shared_device", "persistent", "calls_in_graph")
FIELDS = ("world_size", "ranks_per_host", *MACHINE, *SETTINGS)
"""What must agree where both sides state it; `across` lets named ones differ, `all` lets all."""


def refuse_unlike(a: Side, b: Side, across: Collection[str] = ()) -> None:
    """Let two sides be compared only where they differ in what is compared.

    Raises:
        UsageError: naming every other difference, with both values.
    """
    found = [
        f"{name}: {_shown(left)} in {a.name}, {_shown(right)} in {b.name}"
        for name in FIELDS
        if name not in across and "all" not in across
        for left, right in [(_stated(a, name), _stated(b, name))]
        if left and right and not _agree(name, left, right)
    ]
    if found:
        raise UsageError(
            f"{a.name} and {b.name} differ in more than the interconnect",
            expected="the same machine and settings on both sides",
            found="\n            ".join(found),
            fix="measure both on one machine with the same options; to compare across such a difference on purpose, "
            f"--across {','.join(line.partition(':')[0] for line in found)}",
        )


def differing_variables(a: Side, b: Side) -> tuple[str, ...]:
    """`NCCL_P2P_DISABLE: not set in nvlink, 1 in host`: environment variables in which the sides differ."""
    left, right = _variables(a), _variables(b)
    if (
        left is None
        or right is None
        or {one.key.backend for side in (a, b) for one in side.sets} - {a.sets[0].key.backend}
    ):
        return ()  # two libraries have variables of their own, and so have their launchers
    return tuple(
        f"{name}: {_value(left, name)} in {a.name}, {_value(right, name)} in {b.name}"
        for name in sorted(left.keys() | right.keys())
        if left.get(name) != right.get(name)
    )


def _agree(name: str, left: list[Any], right: list[Any]) -> bool:
    # A side may hold several world sizes; those that both have are compared.
    return (
        bool([value for value in left if value in right]) if name in ("world_size", "ranks_per_host") else left == right
    )


def _stated(side: Side, name: str) -> list[Any]:
    """The distinct values of a field in a side's sweeps, where it is stated."""
    values = [_value_of(sweep.header, name) for sweep in side.sweeps]
    known = [msgspec.json.encode(value) for value in values if value not in (None, [], (), {}, "")]
    return [msgspec.json.decode(text) for text in dict.fromkeys(sorted(known))]


def _value_of(header: Header, name: str) -> Any:
    if name in ("world_size", "ranks_per_host"):
        return getattr(header, name)
    value = header.settings.get(name) if name in SETTINGS else header.environment.get(name)
    if name == "hosts" and isinstance(value, list):
        return sorted(map(str, value))
    return value


def _variables(side: Side) -> dict[str, str] | None:
    stated = [sweep.header.environment.get("variables") for sweep in side.sweeps]
    known = [variables for variables in stated if isinstance(variables, dict)]
    return {str(name): str(value) for name, value in known[0].items()} if known else None


def _value(variables: dict[str, str], name: str) -> str:
    return variables.get(name, "not set")


def _shown(values: Sequence[Any]) -> str:
    return " or ".join(value if isinstance(value, str) else msgspec.json.encode(value).decode() for value in values)


def known_fields(text: str) -> tuple[str, ...]:
    """The facts of `--across`, each a name in FIELDS, or `all`.

    Raises:
        UsageError: for an unknown one.
    """
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    unknown = [name for name in names if name not in (*FIELDS, "all")]
    if unknown:
        raise UsageError("an unknown fact was named after --across", expected=", ".join((*FIELDS, "all")),
                         found=", ".join(map(repr, unknown)), fix="--across device,hosts")  # fmt: skip
    return names
