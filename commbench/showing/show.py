"""`commbench show FILE ...`: read sweep files and print them in any format."""

import shutil
import sys
from collections.abc import Sequence

from commbench.arguments import Parser
from commbench.showing.formats import FORMATS, TEXT_FORMATS
from commbench.sweepfile.reader import Sweep, read_sweeps


def main(argv: Sequence[str] | None = None) -> int:
    """Print the sweeps of all files. Returns 1 when the result of any row was wrong, else 0.

    Raises:
        CommbenchError: for options that make no sense and files that cannot be read; nothing is printed then.
    """
    options = _parser().parse_args(argv)
    sweeps = [sweep for path in options.files for sweep in read_sweeps(path)]
    write(sweeps, options.format)
    return 1 if any_wrong(sweeps) else 0


def write(sweeps: Sequence[Sweep], form: str, *, terminal: bool = True) -> None:
    """Write sweeps to standard output in one of FORMATS.

    Args:
        terminal: believe standard output when it calls itself a terminal: the table then has colours and its width.
    """
    if form != "table":
        sys.stdout.write(TEXT_FORMATS[form](sweeps))
    elif terminal and sys.stdout.isatty():
        sys.stdout.write(_coloured(sweeps, shutil.get_terminal_size().columns))
    else:
        from commbench.showing.table import draw

        sys.stdout.write("\n".join(draw(sweep) for sweep in sweeps))
    sys.stdout.flush()


def any_wrong(sweeps: Sequence[Sweep]) -> bool:
    """Whether the result of any measurement was wrong."""
    return any(m.correct is False or m.wrong for sweep in sweeps for m in sweep.measurements)


def _coloured(sweeps: Sequence[Sweep], width: int) -> str:
    from rich.console import Console

    from commbench.showing.table import table

    console = Console(width=width, highlight=False)
    with console.capture() as page:  # printing itself, rich would end the program when its reader leaves
        for sweep in sweeps:
            console.print(table(sweep, width), "", sep="\n", crop=False)
    return page.get()


def _parser() -> Parser:
    parser = Parser(
        "commbench show",
        "Print sweep files: a table with its judgement, or a format for other programs.",
        "Exit code: 0, or 1 when the result of any row was wrong, or 2 when a file cannot be read.",
    )
    parser.add_argument("files", nargs="+", metavar="FILE", help="a sweep file, written with -J")
    parser.add_argument("--format", choices=FORMATS, default="table", help="default: table")
    parser.add_argument("--json", dest="format", action="store_const", const="json", help="as --format json")
    return parser
