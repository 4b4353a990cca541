"""The parser that every verb uses: errors in four parts, nothing abbreviated, both spellings of a long option."""

import pytest

from commbench.arguments import Parser
from commbench.errors import UsageError


def parser() -> Parser:
    """A verb with a file, a number and a flag."""
    made = Parser("commbench fit", "Fit.", "Exit code: 0.")
    made.add_argument("files", nargs="*")
    made.add_argument("-m", "--agg-iters", type=int)
    return made


def test_an_error_has_four_parts() -> None:
    """What was wrong, the usage, what was found, and where to look."""
    with pytest.raises(UsageError) as caught:
        parser().parse_args(["-m", "x"])
    error = caught.value
    assert (error.wrong, error.expected, error.found, error.fix) == (
        "the options of commbench fit cannot be read",
        "commbench fit [-h] [-m AGG_ITERS] [files ...]",
        "argument -m/--agg-iters: invalid int value: 'x'",
        "commbench fit --help lists them",
    )


def test_a_long_usage_stays_out_of_the_error() -> None:
    """An error is read on a screen."""
    made = parser()
    for number in range(40):
        made.add_argument(f"--option-{number}")
    with pytest.raises(UsageError) as caught:
        made.parse_args(["--nothing"])
    assert caught.value.expected == "options of commbench fit"


def test_nothing_is_abbreviated() -> None:
    """An abbreviation that is read today is another option's name tomorrow."""
    with pytest.raises(UsageError):
        parser().parse_args(["--agg", "2"])


@pytest.mark.parametrize("words", [["--agg_iters", "2"], ["--agg-iters=2"], ["--agg_iters=2"]])
def test_a_long_option_may_be_written_with_underscores(words: list[str]) -> None:
    """nccl-tests' users type --agg_iters."""
    assert parser().parse_args(words).agg_iters == 2


def test_values_keep_their_underscores() -> None:
    """Only the option's name is touched."""
    assert parser().parse_args(["--", "a_b", "--a_b"]).files == ["a_b", "--a_b"]


def test_help_ends_with_0(capsys: pytest.CaptureFixture[str]) -> None:
    """As argparse does it."""
    with pytest.raises(SystemExit, match="0"):
        parser().parse_args(["--help"])
    assert "Exit code: 0." in capsys.readouterr().out
