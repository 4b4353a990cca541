"""Damage to logs as terminals, editors, kills and careless scripts do it; seeded, so that a failure comes again."""

import random
import re
from collections.abc import Callable, Sequence

_NUMBERS = (
    b"0", b"-1", b"1", b"nan", b"-nan", b"inf", b"N/A", b"1e999", b"1e-999", b"1e+05", b"9" * 18, b"9" * 40,
    b"9" * 5000,
    b"1.", b".5", b"1_000", b"0x10", b"1,5", b"12*", b"\xd9\xa1\xd9\xa2", b"4294967296", b"9223372036854775807", b"1e",
    b"NaN", b"Infinity", b"5e-324", b"--1", b"1e+400", b"true", b"null", b'"nan"',
)  # fmt: skip
_NOISE = (
    b"\0", b"\0" * 40, b"\n", b"\r", b"\r\n", b"\xff", b"\xef\xbb\xbf", b"\xff\xfe", b"\x1b[31m", b"\x1b]0;x\x07",
    b"\t",
    b"\xc2\xa0", b"\xe2\x80\xa8", b"{", b"[", b'"', b"#", b"...", b": ", b"[0] ", b"0: ", b"[1,0]<stdout>:",
    b"hostA:1:2 [0] NCCL INFO x", b"\nhostA:1:2 [0] NCCL WARN y\n", b"[" * 3000, b'{"a":' * 3000, b"(" * 500,
    b" " * 5000,
    b"\n# nThread 1 nGpus 8 minBytes 8 maxBytes 16 step: 2(factor)\n", b"\n# Out of bounds values : 3 FAILED\n",
    b"\n# Avg bus bandwidth    : nan\n", b"\nalltoall\n", b"# Collective test starting: x_perf\n",
    b"\n#  Rank  0 Group  0 Pid 1 on h device 0 [0x0] X\n", b"COMMS-RES-all_reduce-float32",
    b"\n# Benchmarking Allreduce\n",
)  # fmt: skip
_NUMBER = re.compile(rb"(?<![\w.])-?\d+(?:\.\d+)?(?:e[+-]?\d+)?(?![\w.])")


def mutated(contents: Sequence[bytes], chance: random.Random) -> bytes:
    """One of the contents with one to six pieces of damage, some of it from another one."""
    content = chance.choice(contents)
    for _ in range(chance.choice((1, 1, 2, 3, 6))):
        content = chance.choice(_DAMAGE)(content, chance)
        if chance.random() < 0.08:
            content = _splice(content, chance.choice(contents), chance)
    return content[:400_000]


def _at(content: bytes, chance: random.Random) -> int:
    return chance.randrange(len(content) + 1)


def _flip(content: bytes, chance: random.Random) -> bytes:
    at = _at(content, chance)
    return content[:at] + bytes(byte ^ (1 << chance.randrange(8)) for byte in content[at : at + 1]) + content[at + 1 :]


def _delete(content: bytes, chance: random.Random) -> bytes:
    at = _at(content, chance)
    return content[:at] + content[at + chance.choice((1, 2, 5, 30, 300)) :]


def _insert(content: bytes, chance: random.Random) -> bytes:
    at = _at(content, chance)
    return content[:at] + chance.choice((*_NOISE, chance.randbytes(6))) + content[at:]


def _cut(content: bytes, chance: random.Random) -> bytes:
    at = _at(content, chance)
    return content[:at] if chance.random() < 0.7 else content[at:]


def _number(content: bytes, chance: random.Random) -> bytes:
    places = list(_NUMBER.finditer(content))
    if not places:
        return content
    place = chance.choice(places)
    return content[: place.start()] + chance.choice(_NUMBERS) + content[place.end() :]


def _lines(change: Callable[[list[bytes], random.Random], None]) -> Callable[[bytes, random.Random], bytes]:
    def changed(content: bytes, chance: random.Random) -> bytes:
        lines = content.split(b"\n")
        change(lines, chance)
        return b"\n".join(lines)

    return changed


def _repeat(lines: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at:at] = lines[at : at + chance.choice((1, 1, 5, 40))] * chance.choice((1, 1, 3))


def _swap(lines: list[bytes], chance: random.Random) -> None:
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]


def _prefix(lines: list[bytes], chance: random.Random) -> None:
    words = chance.choice((b"[0] ", b"0: ", b"[1,0]<stdout>:", b"2026-03-03T10:11:12Z ", b"node1:0: ", b"> "))
    share = chance.choice((0.1, 0.5, 1.0))
    lines[:] = [words + line if chance.random() < share else line for line in lines]


def _unhash(lines: list[bytes], chance: random.Random) -> None:
    lines[:] = [line.lstrip(b"# ") if chance.random() < 0.5 else line for line in lines]


def _split(lines: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    middle = chance.randrange(len(lines[at]) + 1)
    lines[at : at + 1] = [lines[at][:middle], lines[at][middle:]]


def _join(lines: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    lines[at : at + 2] = [b"".join(lines[at : at + 2])]


def _words(lines: list[bytes], chance: random.Random) -> None:
    at = chance.randrange(len(lines))
    words = lines[at].split()
    if len(words) > 1:
        how = chance.randrange(3)
        place = chance.randrange(len(words))
        if how == 0:
            del words[place]
        elif how == 1:
            words.insert(place, chance.choice(words))
        else:
            chance.shuffle(words)
        lines[at] = b" ".join(words)


def _splice(content: bytes, other: bytes, chance: random.Random) -> bytes:
    if chance.random() < 0.5:  # two programs that write to one terminal
        mine, theirs = content.split(b"\n"), other.split(b"\n")
        return b"\n".join(line for both in zip(mine, theirs, strict=False) for line in both)
    at = _at(content, chance)
    return content[:at] + other[_at(other, chance) :]


_DAMAGE = (
    _flip, _delete, _insert, _insert, _cut, _number, _number,
    *map(_lines, (_repeat, _swap, _prefix, _unhash, _split, _join, _words, _words)),
)  # fmt: skip
