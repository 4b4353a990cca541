"""`commbench predict SWEEP ... --size 1G`: the time of a message, from the models of sweeps."""

import sys
from collections.abc import Sequence

from commbench.arguments import Parser
from commbench.errors import RefusedModelError, UsageError
from commbench.units import parse_size
from commbench.verbs.fit import named_collectives, nothing_to_say

_MOST_RANKS = 1 << 24


def main(argv: Sequence[str] | None = None) -> int:
    """Print the predictions. Returns 0, or 3 when one that was asked for is refused.

    Raises:
        CommbenchError: for options that make no sense and files that cannot be read.
    """
    options = _parser().parse_args(argv)
    collectives, sizes = named_collectives(options.collective), _sizes(options.size)
    ranks = _ranks(options.world_size)
    from commbench.modelling.forecasts import chosen, forecasts
    from commbench.modelling.inputs import read_models

    models = chosen(read_models(options.sweeps), collectives, options.mode or ())
    found = forecasts(models, collectives, sizes, ranks)
    if not found:
        if options.json:
            from commbench.showing.fit_document import predict_json

            sys.stdout.write(predict_json(()))
        raise nothing_to_say(options.sweeps, options.collective, options.mode)
    if options.json:
        from commbench.showing.fit_document import predict_json

        sys.stdout.write(predict_json(found))
    else:
        from commbench.showing.forecast_table import draw

        sys.stdout.write(draw(found))
    return RefusedModelError.exit_code if any(forecast.refused for forecast in found) else 0


def _sizes(words: Sequence[str]) -> tuple[int, ...]:
    sizes = tuple(parse_size(word) for text in words for word in text.split(","))
    if 0 in sizes:
        raise UsageError(
            "a size of 0 was asked for", expected="messages of at least 1 byte", found="--size 0",
            fix="name the size of the whole message, such as --size 64M",
        )  # fmt: skip
    return sizes


def _ranks(word: str | None) -> int | None:
    if word is None:
        return None
    if not (word.isascii() and word.isdigit() and 2 <= int(word[:10]) <= _MOST_RANKS):
        raise UsageError(
            "a number of ranks cannot be used", expected=f"a whole number from 2 to {_MOST_RANKS}", found=repr(word),
            fix="write for example --world-size 64",
        )  # fmt: skip
    return int(word)


def _parser() -> Parser:
    parser = Parser(
        "commbench predict",
        "Predict the time of messages from sweeps, or from models saved by commbench fit --save. Each model of the\n"
        "files answers, unless --collective and --mode choose. Sizes outside the measured ones are marked.",
        "Exit code: 0, or 3 when a prediction is refused (with the reason), or 2 for a usage error.",
    )
    add = parser.add_argument
    add("sweeps", nargs="+", metavar="SWEEP", help="a sweep file, or models that commbench fit --save wrote")
    add("--size", action="append", required=True, metavar="SIZE", help="whole message, such as 1G; may be repeated")
    add("--collective", action="append", metavar="NAME", help="only this collective; may be given again")
    add("--mode", action="append", choices=("isolated", "pipelined", "graph"), help="only this mode; may be repeated")
    add("--world-size", metavar="N", help="among N ranks; if not measured, from sweeps of three or more other numbers")
    add("--json", action="store_true", help="print one JSON document instead of a table")
    return parser
