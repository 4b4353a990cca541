"""A program that prints like nccl-tests of two generations, from real output, and fails as it is told.

FAKE in its environment says what to do, comma-separated:

    old               an older version: no JSON, no -a, another table
    rows:N            stop the table after N rows and conclude as if these were all
    crash:N, segv:N   fail after N rows, with nccl-tests' message, or by a signal
    hang:N            after N rows start a grandchild in a session of its own, write both pids to FAKE_PIDS, and wait
    stubborn          ignore SIGTERM
    parting           print one more row at SIGTERM, and end
    leave:N           after N rows end, and leave the grandchild holding the output open
    cut:N             after N rows end without a footer and without an error
    slow              a pause after each row
    zero              a header and nothing else; exit status 0
    wrong             wrong results in the third row and 2 FAILED in the footer; exit status 1
    memory            reduce the largest size to 64 MiB
    cut-json, no-json, lying-json, nan-json
    no-library        do not even start
    usage             understand no option
    late-failure      exit status 134 after everything was printed
    minimum           an average below NCCL_TESTS_MIN_BW
    replaced          an unknown type
    noise             lines of libraries on both streams
"""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import NoReturn

DATA = Path(__file__).resolve().parents[2] / "data"
MEMORY = 64 << 20

USAGE_NEW = """USAGE: {name}
	[-t,--nthreads <N>]
	[-g,--ngpus <N>]
	[-b,--minbytes <N>]
	[-e,--maxbytes <N>]
	[-i,--stepbytes <N>]
	[-f,--stepfactor <N>]
	[-n,--iters <N>]
	[-m,--agg_iters <N>]
	[-w,--warmup_iters <N>]
	[-N,--run_cycles <N>]
	[-p,--parallel_init <0/1>]
	[-c,--check <N>]
	[-o,--op <name>]
	[-d,--datatype <name>]
	[-r,--root <N>]
	[-z,--blocking <0/1/2/3>]
	[-T,--timeout <N>]
	[-G,--cudagraph <N>]
	[-C,--report_cputime <0/1>]
	[-S,--report_timestamps <0/1>]
	[-J,--output_file <file> (only json)]
	[-a,--average <0/1/2/3> <0=RANK0/1=AVG/2=MIN/3=MAX>]
	[-R,--local_register <0/1/2>]
	[-I,--per_iter_timing <0/1>]
	[-h,--help]
"""
USAGE_OLD = "\n".join(
    line for line in USAGE_NEW.splitlines() if not line.strip().startswith(("[-J", "[-a", "[-S", "[-R", "[-I", "[-N"))
)


def value(letter: str) -> str | None:
    """The value of an option in our arguments."""
    return sys.argv[sys.argv.index(letter) + 1] if letter in sys.argv else None


def captured(name: str, generation: str) -> list[str]:
    """The lines of the real run that comes nearest."""
    named = DATA / "runner" / f"{generation}-{name.removesuffix('_perf')}.log"
    return (named if named.exists() else DATA / "runner" / f"{generation}-all_reduce.log").read_text().splitlines()


def is_row(line: str) -> bool:
    """A row of the table."""
    return line.lstrip()[:1].isdigit()


def grandchild() -> int:
    """Start one that no process group of ours holds."""
    code = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); time.sleep(600)"
    return subprocess.Popen([sys.executable, "-IS", "-c", code], start_new_session=True).pid


def say(line: str) -> None:
    """A line, at once."""
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def average(rows: list[str]) -> float:
    """The mean of both bus bandwidths of all rows, as the footer has it."""
    figures = [float(row.split()[column]) for row in rows for column in (7, 11)]
    return sum(figures) / len(figures) if figures else 0.0


def part(row: str) -> NoReturn:
    """Say a last row."""
    say(row)
    sys.exit(1)


def write_json(name: str, told: dict[str, int], rows: list[str]) -> None:
    """What -J writes, with this process's environment in it, as the real one does."""
    file = value("-J")
    if file is None or "no-json" in told:
        return
    source = DATA / "runner" / f"new-{name.removesuffix('_perf')}.json"
    document = json.loads((source if source.exists() else DATA / "runner" / "new-all_reduce.json").read_text())
    document["args"] = [name, *sys.argv[1:]]
    document["env"] = [f"{key}={text}" for key, text in os.environ.items()]
    document["results"] = document["results"][: len(rows)]
    document["average_bus_bandwidth"]["bandwidth"] = average(rows)
    if "wrong" in told:
        document["results"][2]["in_place"]["nwrong"] = 17.0
    if "lying-json" in told:
        document["results"][0]["out_of_place"]["time"] *= 1.5
    text = json.dumps(document)
    if "nan-json" in told:
        text = text.replace('"alg_bw": 0.00', '"alg_bw": "nan", "x": 0.00', 1)
    Path(file).write_text(text[: len(text) // 2] if "cut-json" in told else text)


def write_log() -> None:
    """NCCL's own log, where it was asked for."""
    pattern = os.environ.get("NCCL_DEBUG_FILE")
    text = (DATA / "nccl-info-nvlink-h200x2.log").read_text()
    if os.environ.get("NCCL_DEBUG", "").upper() != "INFO":
        return
    if pattern:
        Path(pattern.replace("%h", "node-0").replace("%p", str(os.getpid()))).write_text(text)
    else:
        say("\n".join(line for line in text.splitlines() if "NCCL INFO" in line))


def fail(name: str) -> None:
    """nccl-tests' last words."""
    say(f"node-0: Test NCCL failure {name}.cu:392 'unhandled cuda error (run with NCCL_DEBUG=INFO for details) / '")
    say(f" .. node-0 pid {os.getpid()}: Test failure common.cu:590")


def main() -> int:
    """Print, and end as told."""
    name = Path(sys.argv[0]).name
    told = {}
    for word in filter(None, os.environ.get("FAKE", "").split(",")):
        key, _, number = word.partition(":")
        told[key] = int(number or 0)
    if "no-library" in told:
        sys.stderr.write(f"{name}: error while loading shared libraries: libnccl.so.2: cannot open shared object\n")
        return 127
    if "--help" in sys.argv:
        say((USAGE_OLD if "old" in told else USAGE_NEW).format(name=name))
        return 0
    if "usage" in told:
        say(f"invalid option '?'\n{USAGE_NEW.format(name=name)}")
        return 0
    if "stubborn" in told:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if "replaced" in told:
        say("invalid type fp3, defaulting to float .. ")
    write_log()
    lines = captured(name, "old" if "old" in told else "new")
    stop = next((told[key] for key in ("rows", "crash", "segv", "hang", "leave", "cut") if key in told), None)
    if "zero" in told:
        stop = 0
    count = 0
    rows: list[str] = []
    for line in lines:
        if "Writing JSON" in line:
            continue
        if not is_row(line):
            if count and not line.startswith("# Out of bounds"):
                break
            if line.startswith("# Out of bounds"):
                break
            text = line.replace("Pid   1343", f"Pid {os.getpid():6d}").replace("all_reduce_perf", name)
            say(text)
            if "memory" in told and "nThread" in line:
                say(f"#\n# Reducing maxBytes to {MEMORY} due to memory limitation")
            continue
        if stop is not None and count >= stop:
            break
        if "memory" in told and int(line.split()[0]) > MEMORY:
            continue
        if "wrong" in told and count == 2:
            tokens = line.rsplit(None, 1)
            line = f"{tokens[0]}      17"
        if "noise" in told:
            sys.stderr.write("libibverbs: Warning: no userspace device-specific driver found\n")
            sys.stderr.flush()
            say("node-0:1:1 [0] NCCL INFO something between rows")
        say(line)
        count += 1
        rows.append(line)
        if "slow" in told:
            time.sleep(0.05)
    if "crash" in told:
        fail(name)
        return 3
    if "segv" in told:
        os.kill(os.getpid(), signal.SIGSEGV)
    if "parting" in told:
        row = [line for line in lines if is_row(line)][count]
        signal.signal(signal.SIGTERM, lambda *_: part(row))
    if "hang" in told or "leave" in told:
        pids = [os.getpid(), grandchild()]
        with Path(os.environ["FAKE_PIDS"]).open("a") as file:
            file.write("".join(f"{pid}\n" for pid in pids))
        if "leave" in told:
            fail(name)
            return 3
        time.sleep(600)
    if "zero" in told or "cut" in told:
        return 0
    wrong = 2 if "wrong" in told else 0
    say(f"# Out of bounds values : {wrong} {'FAILED' if wrong else 'OK'}")
    say(f"# Avg bus bandwidth    : {average(rows):g} {'FAILED' if 'minimum' in told else ''}")
    say(f"#\n# Collective test concluded: {name}\n#\n")
    if "old" not in told:
        write_json(name, told, rows)
    return 134 if "late-failure" in told else int(bool(wrong or "minimum" in told))


if __name__ == "__main__":
    sys.exit(main())
