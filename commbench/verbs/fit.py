"""`commbench fit SWEEP ...`: latency and bandwidth of each curve, or the reason why it has none."""

import sys
from collections.abc import Sequence

from commbench.arguments import Parser
from commbench.collectives import collective_named
from commbench.errors import RefusedModelError, UsageError


def main(argv: Sequence[str] | None = None) -> int:
    """Print the models of all sweeps. Returns 0, or 3 when a curve has no model.

    Raises:
        CommbenchError: for options that make no sense and files that cannot be read or written.
    """
    options = _parser().parse_args(argv)
    collectives = named_collectives(options.collective)
    from commbench.modelling.forecasts import chosen
    from commbench.modelling.inputs import read_models

    models = chosen(read_models(options.sweeps), collectives, options.mode or ())
    if not models:
        if options.json:
            from commbench.showing.fit_document import fit_json

            sys.stdout.write(fit_json(()))
        raise nothing_to_say(options.sweeps, options.collective, options.mode)
    if options.save is not None:
        from commbench.modelling.saved import save

        save(models, options.save)
    if options.json:
        from commbench.showing.fit_document import fit_json

        sys.stdout.write(fit_json(models))
    else:
        from commbench.showing.fits import draw

        sys.stdout.write(draw(models, with_reference=options.reference))
    return RefusedModelError.exit_code if any(model.refused for model in models) else 0


def named_collectives(words: Sequence[str] | None) -> tuple[str, ...]:
    """The names of collectives given one by one or comma-separated. Raises UsageError for an unknown or empty one."""
    names = [name for word in words or () for name in word.split(",") if name.strip()]
    if words and not names:  # an unset variable of a script must not choose all of them
        raise UsageError(
            "--collective names no collective", expected="a name such as all_reduce, or no --collective at all",
            found=", ".join(map(repr, words)), fix="name one, or leave the option out: then every model answers",
        )  # fmt: skip
    return tuple(dict.fromkeys(collective_named(name.strip()).name for name in names))


def nothing_to_say(
    sweeps: Sequence[str], collectives: Sequence[str] | None, modes: Sequence[str] | None
) -> RefusedModelError:
    """The error when no curve is left."""
    asked = ", ".join(str(word) for words in (collectives, modes) for word in words or ())
    return RefusedModelError(
        "there is nothing to fit",
        expected="sweep files with times of collectives" + (f" that match {asked}" if asked else ""),
        found=f"no such times in {', '.join(map(str, sweeps))}",
        fix="commbench show FILE prints what is in it; a log that names no collective: commbench import --collective",
    )


def _parser() -> Parser:
    parser = Parser(
        "commbench fit",
        "Fit latency and bandwidth to each curve of sweep files: with intervals, the sizes over which they hold, and\n"
        "the error on sizes the fit has not seen, beside that of interpolation. Sweeps that share label, ranks,\n"
        "device and buffers answer together.",
        "Exit code: 0, or 3 when a curve has no model (with the reason), or 2 when a file cannot be read.",
    )
    add = parser.add_argument
    add("sweeps", nargs="+", metavar="SWEEP", help="a sweep file, or models that --save wrote")
    add("--collective", action="append", metavar="NAME", help="only this collective; may be given again")
    add("--mode", action="append", choices=("isolated", "pipelined", "graph"), help="only this mode; may be repeated")
    add("--reference", action="store_true", help="also show what the device's link carries, and the share reached")
    add("--save", metavar="FILE", help="keep the models for predict, training and accept")
    add("--json", action="store_true", help="print one JSON document instead of tables")
    return parser
