"""What the mains of all figures share: the options of files and output, and errors turned into message and code."""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from commbench.arguments import Parser
from commbench.errors import CommbenchError, UsageError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMATS = (".png", ".svg", ".pdf")
INTERRUPTED = 130  # 128 + SIGINT


class DrawingError(CommbenchError):
    """The files hold nothing that the figure could show, or only what must not be shown (exit 1)."""

    exit_code = 1


def parser(program: str, description: str, *, files: str = "a sweep file") -> Parser:
    """The options that every figure has."""
    made = Parser(
        f"python -m plots.{program}", description,
        "Exit code: 0 drawn; 1 nothing that may be drawn; 2 options or files that cannot be read.",
    )  # fmt: skip
    made.add_argument("files", nargs="+", metavar="FILE", help=files)
    made.add_argument("--output", metavar="FILE", required=True, help=f"the figure: {', '.join(FORMATS)} by its name")
    made.add_argument("--theme", choices=("light", "dark"), default="light", help="default: light")
    return made


def add_choice(made: Parser) -> None:
    """The options that choose among the curves of a file."""
    add = made.add_argument
    add("--collective", metavar="NAME,...", help="only these, in this order (default: all)")
    add("--mode", choices=("isolated", "pipelined", "graph"), help="how it was timed; modes are never mixed in a line")
    add("--placement", choices=("in", "out"), help="in place or out of place (default: what covers most curves)")
    add("--dtype", metavar="NAME", help="the data type, where files hold several")
    add("--operator", metavar="NAME", help="the reduction operator, where files hold several")
    add("--title", metavar="TEXT", help="instead of the figure's own title; an unproved path is said all the same")


def run(made: Parser, draw: "Callable[[argparse.Namespace], Figure]", argv: Sequence[str] | None = None) -> int:
    """Parse, draw, write. Returns the exit code; what was written goes to stdout, errors to stderr."""
    try:
        options = made.parse_args(argv)
        output = checked_output(options.output, FORMATS)
        refuse_without("matplotlib")
        figure = draw(options)
        from plots.style import save

        save(figure, output)
    except CommbenchError as error:
        sys.stderr.write(f"{made.prog.removeprefix('python -m ')}: {error}\n")
        return error.exit_code
    except KeyboardInterrupt:
        return INTERRUPTED
    sys.stdout.write(f"{output}\n")
    return 0


def checked_output(name: str, formats: Sequence[str]) -> Path:
    """The file to write. Raises UsageError for a format that there is none of, or a folder that is not there."""
    path = Path(name)
    if path.suffix.lower() not in formats or "\0" in name:
        raise UsageError("the output's format is not known", expected=f"a name that ends in {', '.join(formats)}",
                         found=repr(name), fix=f"--output figure{formats[0]}")  # fmt: skip
    if not path.parent.is_dir():
        raise UsageError("the output cannot be written", expected="a folder that exists", found=str(path.parent),
                         fix=f"mkdir -p {path.parent}")  # fmt: skip
    return path


def refuse_without(*packages: str) -> None:
    """Raises UsageError where a package of the extra `plots` is missing."""
    from importlib.util import find_spec

    for package in packages:
        if find_spec(package) is None:
            raise UsageError(f"{package} is not installed", expected="the packages that figures need",
                             found=f"no {package} in {sys.executable}",
                             fix="pip install 'commbench[plots]'")  # fmt: skip
