"""Every format of `commbench show`, by name; each is a function from sweeps to text."""

from collections.abc import Callable, Sequence

from commbench.showing import heading
from commbench.showing.columns import columns_for
from commbench.showing.document import to_csv, to_json
from commbench.showing.judgement import judge
from commbench.showing.nccl_table import to_nccl_tests
from commbench.showing.rows import in_reading_order, rows
from commbench.sweepfile.reader import Sweep


def to_markdown(sweeps: Sequence[Sweep]) -> str:
    """A GitHub-flavoured table for each sweep, under its heading as a list."""
    return "\n".join(line for sweep in sweeps for line in _markdown(sweep))


TEXT_FORMATS: dict[str, Callable[[Sequence[Sweep]], str]] = {
    "markdown": to_markdown,
    "csv": to_csv,
    "json": to_json,
    "nccl-tests": to_nccl_tests,
}
FORMATS = ("table", *TEXT_FORMATS)


def _markdown(sweep: Sweep) -> list[str]:
    shown = in_reading_order(rows(sweep))
    lines = [f"- **{_escaped(word)}** {_escaped(text)}" for word, text in heading.heading(sweep, shown)] + [""]
    if shown:
        columns = columns_for(shown)
        heads = [f"{column.title} ({column.unit})" if column.unit else column.title for column in columns]
        lines.append(_line(heads))
        lines.append("|" + "|".join("---:" if column.side == "right" else "---" for column in columns) + "|")
        lines += [_line([column.cell(row) for column in columns]) for row in shown]
    else:
        lines.append("no measurements")
    lines.append("")
    for mark, note in heading.notes(shown):
        lines.append(f"- {mark}: {_escaped(note)}")
    lines += [f"- left out: {_escaped(point)}" for point in heading.left_out(sweep)]
    lines += [
        f"- **warning:** {_escaped(warning.seen)}. Why it matters: {_escaped(warning.why)}. "
        f"What helps: {_escaped(warning.helps)}."
        for warning in judge(sweep, shown)
    ]
    return [*lines, ""]


def _line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(_escaped(cell) for cell in cells) + " |"


def _escaped(text: str) -> str:
    for character in ("\\", "|", "_", "*", "<", "#", "`", "["):
        text = text.replace(character, "\\" + character)
    return heading.clean(text)
