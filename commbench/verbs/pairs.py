"""`commbench pairs [FILE]`: show what a test of pairs found; without a file, say how to start one."""

import sys
from collections.abc import Sequence

from commbench.arguments import Parser
from commbench.errors import LaunchError

_START = "torchrun --nnodes N --nproc-per-node 8 --rdzv-backend c10d --rdzv-endpoint HOST0:29500"


def main(argv: Sequence[str] | None = None) -> int:
    """Show the file. Returns 0 when all was healthy, 1 when it names a culprit, 3 when it cannot tell.

    Raises:
        CommbenchError: no file was given, or it cannot be read.
    """
    options = _parser().parse_args(argv)
    if options.file is None:
        raise LaunchError(
            "pairs are tested by ranks that a launcher starts, and shown from a file",
            expected="commbench pairs FILE, or one process per rank, started by torchrun or mpirun",
            found="neither a file nor a launcher",
            fix=f"`{_START} -m commbench.pairs -J pairs.jsonl` on every node; under MPI "
            "`mpirun … python -m mpi4py -m mpi.pairs`",
        )
    from commbench.judging.bounds import parse_rate
    from commbench.pairing.judged import EXIT_CODES, judged, outcome
    from commbench.pairing.options import tolerance_of
    from commbench.pairing.reading import read_pairs, with_expected, with_tolerance
    from commbench.showing.pairs import draw_pairs, to_json

    pairs = read_pairs(options.file)
    if options.tolerance is not None:
        pairs = with_tolerance(pairs, tolerance_of(options.tolerance))
    if options.expect is not None:
        pairs = with_expected(pairs, parse_rate(options.expect))
    verdict = judged(pairs)
    sys.stdout.write(to_json(pairs, verdict) if options.json else draw_pairs(pairs, verdict))
    sys.stdout.flush()
    return EXIT_CODES[outcome(pairs, verdict)]


def _parser() -> Parser:
    parser = Parser(
        "commbench pairs",
        "Show which node, GPU or link a test of pairs found to be slow, late or broken.",
        f"The test itself runs on all ranks:\n  {_START} -m commbench.pairs -J pairs.jsonl\n"
        "Its options: python -m commbench.pairs -h\n"
        "Exit code: 0 healthy, 1 a culprit was found, 2 the file cannot be read, 3 could not tell.",
    )
    parser.add_argument("file", nargs="?", metavar="FILE", help="what -m commbench.pairs wrote with -J")
    parser.add_argument("--tolerance", metavar="SHARE", help="judge again with another tolerance, such as 5%%")
    parser.add_argument("--expect", metavar="RATE", help="judge again by what healthy pairs must carry, such as 10GB/s")
    parser.add_argument("--json", action="store_true", help="print one JSON document")
    return parser
