"""Damage to a file as disks, kills, editors and copy-and-paste do it; seeded, so that a failure comes again."""

import random
import re
from collections.abc import Callable

NUMBERS = (
    b"1e999",
    b"-1",
    b"NaN",
    b"-0",
    b"1e308",
    b"5e-324",
    b"9" * 40,
    b"9" * 5000,
    b"0",
    b"1.5",
    b"01",
    b"Infinity",
)
VALUES = (b"null", b"true", b'""', b'"\\ud800"', b"[]", b"{}", b"[[]]", b'"\xff"', b"[" * 3000, b'{"a":' * 3000, b"3")
_NUMBER = re.compile(rb"(?<=[:\[,])-?\d+(?:\.\d+)?(?:e-?\d+)?(?=[,\]}])")
_VALUE = re.compile(rb'(?<=":)(?:"[^"]*"|null|true|false|\[[^\[\]]*\]|-?\d[^,}\]]*)')


def mutated(content: bytes, chance: random.Random) -> bytes:
    """The content with one to three pieces of damage."""
    for _ in range(chance.choice((1, 1, 2, 3))):
        content = chance.choice(DAMAGE)(content, chance)
    return content


def _flip(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + bytes(byte ^ (1 << chance.randrange(8)) for byte in content[at : at + 1]) + content[at + 1 :]


def _delete(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    return content[:at] + content[at + chance.choice((1, 1, 5, 100)) :]


def _insert(content: bytes, chance: random.Random) -> bytes:
    at = chance.randrange(len(content) + 1)
    noise = chance.choice((b"\0" * 20, b"\n", b"{", b'"', b"}", b",", b"\xff", b"\r", chance.randbytes(5)))
    return content[:at] + noise + content[at:]


def _cut(content: bytes, chance: random.Random) -> bytes:
    return content[: chance.randrange(len(content) + 1)] + chance.choice((b"", b"\0" * 30, b"\n"))


def _edit(pattern: re.Pattern[bytes], others: tuple[bytes, ...]) -> Callable[[bytes, random.Random], bytes]:
    def edit(content: bytes, chance: random.Random) -> bytes:
        places = list(pattern.finditer(content))
        if not places:
            return content
        place = chance.choice(places)
        return content[: place.start()] + chance.choice(others) + content[place.end() :]

    return edit


def _lines(content: bytes, chance: random.Random) -> bytes:
    """Swap two lines, double one, lose one, or glue two together."""
    lines = content.splitlines(keepends=True) or [b""]
    one, other = chance.randrange(len(lines)), chance.randrange(len(lines))
    match chance.randrange(4):
        case 0:
            lines[one], lines[other] = lines[other], lines[one]
        case 1:
            lines.insert(one, lines[other])
        case 2:
            del lines[one]
        case _:
            lines[one] = lines[one].rstrip(b"\n")
    return b"".join(lines)


DAMAGE = (_flip, _delete, _insert, _cut, _edit(_NUMBER, NUMBERS), _edit(_VALUE, VALUES), _lines)
