"""The `commbench` command: find the verb, run its main, turn errors into a message and an exit code.

A verb is imported when it is asked for, so `commbench --help` loads nothing heavy.
"""

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module

from commbench import __version__
from commbench.errors import CommbenchError, UsageError

# verb: (module whose `main(argv) -> int` runs it, its line of help)
VERBS = {
    "sweep": ("commbench.sweep", "measure collectives; usually torchrun ... -m commbench.sweep"),
    "nccl-tests": ("commbench.verbs.nccl_tests", "run nccl-tests' programs and keep their rows as a sweep file"),
    "import": ("commbench.verbs.importing", "turn other tools' logs (nccl-tests, OSU, IMB ...) into sweeps"),
    "show": ("commbench.showing.show", "print sweep files: table, markdown, csv, json, nccl-tests"),
    "schema": ("commbench.sweepfile.schema", "print the JSON Schema of a sweep file"),
    "fit": ("commbench.verbs.fit", "latency and bandwidth of each collective, with intervals"),
    "predict": ("commbench.verbs.predict", "the time of a message, from sweeps or saved models"),
    "training": ("commbench.verbs.training", "predict the communication of a training step from sweeps"),
    "replay": ("commbench.replay", "issue a step's collectives; torchrun ... -m commbench.replay"),
    "interconnects": ("commbench.verbs.interconnects", "the same sweep with and without NVLink, proved and compared"),
    "compare": ("commbench.verbs.compare", "compare sweeps: ratios, significance, crossover, verdict"),
    "accept": ("commbench.verbs.accept", "hold sweeps against limits: pass, fail, or could not tell"),
    "pairs": ("commbench.verbs.pairs", "name the slow, late or broken node, GPU or link"),
    "doctor": ("commbench.doctor", "look at launcher, devices and libraries before measuring"),
}

INTERRUPTED = 130  # 128 + SIGINT
NOBODY_READS = 141  # 128 + SIGPIPE, as tools that the signal ends


def main(argv: Sequence[str] | None = None) -> int:
    """Run a verb. Returns its exit code, or that of the error it raised."""
    words = list(sys.argv[1:] if argv is None else argv)
    try:
        code = _run(words)
        sys.stdout.flush()
    except CommbenchError as error:
        sys.stderr.write(f"commbench: {error}\n")
        return error.exit_code
    except BrokenPipeError:
        # `commbench show ... | head` left: nothing to tell, and the interpreter must not flush into the pipe again.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return NOBODY_READS
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT, errno.EIO):
            raise
        sys.stderr.write(f"commbench: the output could not be written: {error.strerror}\n")
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return UsageError.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    return code


def _run(words: list[str]) -> int:
    match words:
        case ["-h" | "--help", *_]:
            sys.stdout.write(_help())
            return 0
        case ["--version", *_]:
            sys.stdout.write(f"commbench {__version__}\n")
            return 0
        case [verb, *rest] if verb in VERBS:
            code: int = import_module(VERBS[verb][0]).main(rest)
            return code
        case [unknown, *_]:
            raise _unknown(unknown)
    sys.stderr.write(_help())
    return 2


def _help() -> str:
    width = max(map(len, VERBS))
    lines = [f"  {verb:<{width}}  {words}" for verb, (_, words) in VERBS.items()]
    return "\n".join(
        [
            "usage: commbench VERB [options]   (commbench VERB --help, commbench --version)",
            "",
            "How fast do my GPUs really talk, and what will that cost my training?",
            "",
            *lines,
            "",
            "Exit codes: 0 yes, 1 no, 2 usage or environment error, 3 could not tell.",
            "",
        ]
    )


def _unknown(verb: str) -> UsageError:
    from difflib import get_close_matches

    close = get_close_matches(verb, VERBS, n=1)
    return UsageError(
        "an unknown verb was asked for",
        expected=", ".join(VERBS),
        found=repr(verb),
        fix=f"did you mean `commbench {close[0]}`?" if close else "commbench --help lists them",
    )


if __name__ == "__main__":
    raise SystemExit(main())
