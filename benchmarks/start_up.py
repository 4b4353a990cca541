"""How long `import commbench` and `commbench --help` take: median wall time of 10 fresh processes. Needs no torch.

    python -m benchmarks.start_up

Exit code 1 when one of them loads torch, scipy or matplotlib.
"""

import statistics
import subprocess
import sys
import time

from benchmarks.machine import machine_and_date

RUNS = 10
HEAVY = ("torch", "scipy", "matplotlib")
START = {
    "python alone": "pass",
    "import commbench": "import commbench",
    "commbench --help": "from commbench.__main__ import main; main(['--help'])",
}
LOADED = "; import sys; print(*[name for name in {} if name in sys.modules], file=sys.stderr)"


def wall_times(program: str) -> list[float]:
    """Seconds of each run, start of the interpreter included."""
    times = []
    for _ in range(RUNS):
        start = time.perf_counter()
        subprocess.run([sys.executable, "-c", program], check=True, stdout=subprocess.DEVNULL)
        times.append(time.perf_counter() - start)
    return times


def loaded(program: str) -> str:
    """The heavy libraries that the program loads."""
    heavy = LOADED.format(HEAVY)
    return subprocess.run([sys.executable, "-c", program + heavy], check=True, capture_output=True, text=True).stderr


def main() -> int:
    """Print one row a program. Returns 1 when one loads a heavy library."""
    print(machine_and_date())
    print(f"{'program':<20}{'median ms':>10}{'slowest ms':>12}  loads")
    guilty = False
    for name, program in START.items():
        times, heavy = wall_times(program), loaded(program).strip()
        guilty = guilty or bool(heavy)
        print(f"{name:<20}{statistics.median(times) * 1e3:>10.0f}{max(times) * 1e3:>12.0f}  {heavy or 'nothing heavy'}")
    return 1 if guilty else 0


if __name__ == "__main__":
    sys.exit(main())
