"""`commbench compare A B [...]`: is one side faster, where, by how much, and how sure is that."""

import sys
from collections.abc import Sequence

from commbench.arguments import Parser

EXIT_CODES = {"different": 0, "no measurable difference": 0, "void": 1, "could not tell": 3}


def main(argv: Sequence[str] | None = None) -> int:
    """Print the comparison. Returns 0 when it could be made, 1 when a side is void, 3 when nobody can tell.

    Raises:
        CommbenchError: for options, files that cannot be read, and sides that must not be compared.
    """
    options = _parser().parse_args(argv)
    from commbench.judging.bounds import share_of
    from commbench.judging.comparison import compare  # here, so that --help loads no scipy
    from commbench.judging.likeness import known_fields
    from commbench.judging.sides import read_sides

    across = known_fields(options.across)
    single_value = None if options.single_value is None else share_of(options.single_value, "--single-value", 100)
    result = compare(read_sides(options.sides), across=across, single_value=single_value)
    if options.json:
        from commbench.showing.comparison import to_json

        sys.stdout.write(to_json(result))
    else:
        from commbench.showing.comparison import draw

        sys.stdout.write(draw(result))
    sys.stdout.flush()
    return EXIT_CODES[result.outcome]


def _parser() -> Parser:
    parser = Parser(
        "commbench compare",
        "Compare sweeps size by size: ratio with its interval, significance with one bound on false alarms for all "
        "sizes together, crossovers, fits, and the verdict in one sentence.",
        "Each argument, file or folder, is a side; the first one is the base, and a ratio is (time of the side / time\n"
        "of the base). One folder that holds several settings is split into them.\n"
        "Exit code: 0 compared, different or not; 1 a side is void (wrong results, a setting that did not take);\n"
        "2 the sides must not be compared (what differs is named), or a file cannot be read; 3 could not tell.",
    )
    parser.add_argument("sides", nargs="+", metavar="SIDE", help="a sweep file, or a folder of them")
    parser.add_argument(
        "--across",
        metavar="FACT,...",
        default="",
        help="compare although these facts differ (device, hosts, nccl, ...; `all` for any)",
    )
    parser.add_argument(
        "--single-value",
        metavar="PERCENT",
        help="how well a value without samples (an imported table's) is known: half its 95 %% interval, such as 10%%; "
        "without it such values decide nothing",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser
