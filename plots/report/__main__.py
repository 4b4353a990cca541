"""One self-contained page of sweeps: `python -m plots.report nvlink.jsonl host.jsonl --output report.html`."""

import argparse
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from commbench.errors import CommbenchError, SweepFileError, UsageError
from plots.running import INTERRUPTED, add_choice, checked_output, parser, refuse_without

if TYPE_CHECKING:
    from commbench.sweepfile.sets import SweepSet
    from commbench.training.predictions import StepPrediction

MODEL = "llama2-7b"  # priced where nobody names a model


def main(argv: Sequence[str] | None = None) -> int:
    """Write the page. Returns 0, 1 or 2; a section that cannot be made says why and leaves the others theirs."""
    made = _parser()
    try:
        options = made.parse_args(argv)
        output = checked_output(options.output, (".html", ".htm"))
        refuse_without("matplotlib", "jinja2")
        text = page(vars(options))
        output.write_text(text, encoding="utf-8")
    except CommbenchError as error:
        sys.stderr.write(f"plots.report: {error}\n")
        return error.exit_code
    except OSError as error:
        sys.stderr.write(f"plots.report: {options.output} cannot be written: {error.strerror}\n")
        return UsageError.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    sys.stdout.write(f"{output}\n")
    return 0


def page(given: Mapping[str, Any]) -> str:
    """The page that the options ask for."""
    from commbench.sweepfile.reader import read_sweeps
    from commbench.sweepfile.sets import sets_of
    from commbench.training.step_options import steps_of, world_size_of
    from plots.choosing import choice_of
    from plots.report.page import render

    if given["model"] is None and given["parameters"] is None:
        given = {**given, "model": MODEL}
    asked, world_size = steps_of(given), world_size_of(given["world_size"])
    accepted = None if given["accept"] is None else read_acceptance(given["accept"])
    sets = sets_of(sweep for file in dict.fromkeys(given["files"]) for sweep in read_sweeps(file))

    def steps(sound: "Sequence[SweepSet]") -> "Sequence[StepPrediction]":
        from plots.steps import predict_on

        return predict_on(sound, asked, world_size, mode=given["mode"], assume_ring=given["assume_ring"])

    return render(sets, choice_of(argparse.Namespace(**given)), steps, accepted, given["title"])


def read_acceptance(file: str) -> Mapping[str, Any]:
    """The document of `commbench accept --json`.

    Raises:
        SweepFileError: the file is not there, or holds something else.
    """
    import msgspec

    try:
        found = msgspec.json.decode(Path(file).read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise _no_acceptance(file, getattr(error, "strerror", None) or str(error)[:200]) from None
    checks = found.get("checks") if isinstance(found, dict) else None
    if not isinstance(checks, list) or not all(isinstance(check, dict) for check in checks) or "verdict" not in found:
        raise _no_acceptance(file, "no verdict with its checks")
    return dict(found)


def _no_acceptance(file: str, found: str) -> SweepFileError:
    return SweepFileError("the acceptance cannot be read", expected="what `commbench accept --json` prints",
                          found=f"{file}: {found}",
                          fix="commbench accept LIMITS SWEEP --json > accept.json")  # fmt: skip


def _parser() -> argparse.ArgumentParser:
    from commbench.training.step_options import add_step_options

    made = parser("report", "One HTML page without any request to a network: warnings, facts, figures, tables, fits, a "
                  "training step, comparison and verdicts.")  # fmt: skip
    add_choice(made)
    add = made.add_argument
    add("--accept", metavar="FILE", help="what `commbench accept --json` printed: its checks stand on the page too")
    add_step_options(made, strategies="dp,zero2,zero3")
    add("--world-size", metavar="N", type=int, help="ranks of the step (default: as many as were measured)")
    add("--assume-ring", action="store_true", help="price numbers of ranks that were not measured by a ring's law")
    return made


if __name__ == "__main__":
    sys.exit(main())
