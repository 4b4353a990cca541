"""An acceptance as text, as Markdown, and as one strict JSON document."""

from collections.abc import Iterator

import msgspec

from commbench.judging.judged import Acceptance, Check, Outcome
from commbench.showing.heading import clean

WORDS: dict[Outcome, str] = {
    "fail": "FAIL",
    "not_verified": "NOT VERIFIED",
    "inconclusive": "INCONCLUSIVE",
    "pass": "pass",
}
_SHOWN_PASSES = 40  # more passes than this are counted instead of listed


def to_json(result: Acceptance) -> str:
    """The acceptance as indented JSON."""
    return msgspec.json.format(msgspec.json.encode(result), indent=2).decode() + "\n"


def verdict_line(result: Acceptance) -> str:
    """`FAIL: 2 of 40 checks fail, 1 is not verified`, and what came first."""
    counts = [
        f"{number} {word}"
        for outcome, word in (("fail", "failed"), ("not_verified", "not verified"), ("inconclusive", "inconclusive"),
                              ("pass", "passed"))
        if (number := result.count(outcome))  # type: ignore[arg-type]  # the four outcomes
    ]  # fmt: skip
    return f"{WORDS[result.verdict]}: {', '.join(counts) or 'nothing was asked'}"


def draw(result: Acceptance, *, every: bool = False) -> str:
    """The verdict, then every check, the worst first.

    Args:
        every: list all checks that passed, however many.
    """
    lines = [f"verdict  {verdict_line(result)}", f"limits   {result.limits}", f"for      {result.machine}", ""]
    passes = result.count("pass")
    hidden = passes > _SHOWN_PASSES and not every
    for check in result.checks:
        if check.outcome != "pass" or not hidden:
            lines += _check(check)
    if hidden:
        lines.append(f"{WORDS['pass']:<12}  {passes} checks (--all lists them)")
    lines += [f"note: {note}" for note in result.notes]
    return "\n".join(clean(line) for line in lines) + "\n"


def draw_markdown(result: Acceptance) -> str:
    """A heading with the verdict and a table of the checks, for a ticket or a job summary."""
    lines = [f"## {verdict_line(result)}", "", f"{_cell(result.limits)} ({_cell(result.machine)})", ""]
    lines += ["| outcome | check | limit | found | because |", "|---|---|---|---|---|"]
    lines += [
        f"| {WORDS[c.outcome]} | {_cell(c.name)} | {_cell(c.limit)} | {_cell(c.reason)} | {_cell(c.because or '')} |"
        for c in result.checks
    ]
    lines += ["", *(f"- {_cell(note)}" for note in result.notes)] if result.notes else []
    return "\n".join(lines) + "\n"


def _check(check: Check) -> Iterator[str]:
    yield f"{WORDS[check.outcome]:<12}  {check.name}: {check.reason}"
    if check.outcome != "pass":
        because = f" ({check.because})" if check.because else ""
        yield f"{'':<12}  limit: {check.limit}{because}"


def _cell(text: str) -> str:
    return clean(text).replace("|", "\\|")
