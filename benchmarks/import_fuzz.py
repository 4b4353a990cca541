"""Damage the logs of the tests at random, import each, and count how it ended: `python -m benchmarks.import_fuzz`.

Each mutation has a number, and the number is its seed: `--first 1234 --count 1` repeats one, and `--show` prints it.
"""

import argparse
import random
import sys
import time
import traceback
from collections import Counter
from pathlib import Path

from tests.importing.importing_once import outcome
from tests.importing.mutating import mutated

LOGS = Path(__file__).parent.parent / "tests" / "data" / "importing"
SLOW = 2.0  # seconds of one import from which on it is told
EVERY = 10_000  # mutations between two lines of progress


def main() -> int:
    """Run the mutations. Returns 1 when one of them raised, else 0."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--first", type=int, default=0, help="number of the first mutation")
    parser.add_argument("--count", type=int, default=1_000_000, help="how many")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="stop after this time")
    parser.add_argument(
        "--largest", type=int, default=3000, help="bytes that are kept of a log, of its head and its end"
    )
    parser.add_argument("--show", action="store_true", help="print each damaged log")
    options = parser.parse_args()
    contents = [
        shortened(path.read_bytes(), options.largest)
        for path in sorted(LOGS.rglob("*.*"))
        if path.suffix in (".log", ".json", ".csv")
    ]
    outcomes, faults = Counter[str](), Counter[str]()
    slowest, done, start = 0.0, 0, time.monotonic()
    for number in range(options.first, options.first + options.count):
        content = mutated(contents, random.Random(number))
        if options.show:
            sys.stdout.buffer.write(content + b"\n")
        before = time.monotonic()
        try:
            outcomes[outcome(content)[:1]] += 1
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            fault = f"{Path(place.filename).name}:{place.lineno} {type(error).__name__}"
            if not faults[fault]:
                print(f"mutation {number}: {fault}: {str(error)[:100]}")
            faults[fault] += 1
        took = time.monotonic() - before
        slowest, done = max(slowest, took), done + 1
        if took > SLOW:
            print(f"mutation {number} took {took:.1f} s ({len(content)} bytes)")
        if done % EVERY == 0:
            print(f"{done} in {time.monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        if time.monotonic() - start > options.seconds:
            break
    ended = ", ".join(f"exit {code}: {times}" for code, times in sorted(outcomes.items()))
    spent = time.monotonic() - start
    numbers = f"{options.first} to {options.first + done - 1}"
    print(f"mutations {numbers} of {len(contents)} logs in {spent:.0f} s, slowest {slowest:.2f} s")
    print(f"{ended}; raised: {sum(faults.values())}")
    return 1 if faults else 0


def shortened(content: bytes, largest: int) -> bytes:
    """The first and last lines of a log: what is done to a row in its middle is done to the others too."""
    if len(content) <= largest:
        return content
    head = content[: content.rfind(b"\n", 0, largest * 2 // 3) + 1] or content[: largest * 2 // 3]
    return head + content[content.find(b"\n", len(content) - largest // 3) + 1 :]


if __name__ == "__main__":
    raise SystemExit(main())
