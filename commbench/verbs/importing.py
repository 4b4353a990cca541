"""`commbench import FILE ...`: other tools' logs as sweeps, with everything that could not be read."""

import sys
from collections.abc import Sequence
from typing import Any

from commbench.arguments import Parser
from commbench.verbs.many_records import no_search_for_cycles


def main(argv: Sequence[str] | None = None) -> int:
    """Read logs, write them as sweeps, and tell what was read and what was not.

    Returns:
        0 when all of it can be used, 1 when nothing can, 3 when something that matters could not be read.

    Raises:
        CommbenchError: for options that make no sense, and files that cannot be read or written.
    """
    options = command_line().parse_args(argv)
    with no_search_for_cycles():
        return _run(options)


def _run(options: Any) -> int:
    from commbench.importing.imported import Imported, exit_code, write_sweeps
    from commbench.importing.reading import paths_of, read_log, stated_by

    stated = stated_by(options.world_size, options.collective, options.label)
    given = None if options.transport_log is None else paths_of(options.transport_log)
    imported = Imported.of([read_log(name, stated) for name in options.files], stated, given)
    if options.file is not None and imported.runs:
        write_sweeps(options.file, imported)
    if options.json:
        from commbench.importing.imported_json import pieces

        for piece in pieces(imported):
            sys.stdout.write(piece)
    else:
        from commbench.importing.imported_text import summary, warnings

        sys.stderr.write(warnings(imported))
        sys.stdout.write(summary(imported, options.file))
    sys.stdout.flush()
    return exit_code(imported, strict=options.strict)


def command_line() -> Parser:
    parser = Parser(
        "commbench import",
        "Turn other tools' output into sweeps: nccl-tests and rccl-tests (text, JSON, CSV), OSU, IMB and others.\n"
        "The tool is found by content. What the log does not say is not guessed; what cannot be read is listed.",
        "Exit code: 0 when all of it can be used, 1 when nothing can, 3 when something that matters is missing, mixed\n"
        "or, with --strict, was not checked by the tool; 2 for a usage error.",
    )
    add = parser.add_argument
    add("files", nargs="+", metavar="FILE", help="a log, or - for standard input")
    add("-J", dest="file", metavar="FILE", help="write the sweeps into this new file")
    add("--label", metavar="NAME", help="the setting these logs were measured with, such as nvlink")
    add(
        "--world-size", metavar="N", help="ranks of one collective, where the log does not say; tested against its rows"
    )
    add("--collective", metavar="NAME", help="the collective, where the log does not say; tested against its rows")
    add("--transport-log", metavar="FILE", help="NCCL's own log of the run (NCCL_DEBUG=INFO): proves the path")
    add("--strict", action="store_true", help="exit with 3 where the tool did not check the data")
    add("--json", action="store_true", help="print one JSON document instead of a summary")
    return parser
