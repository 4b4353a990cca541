"""The HTML page: what it says, in which order, and what it never does."""

import re
from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import msgspec
import pytest

from commbench.errors import RefusedModelError
from commbench.judging.judged import Check, acceptance
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import Void
from commbench.sweepfile.sets import SweepSet
from commbench.training.predictions import StepPrediction
from commbench.training.step_options import steps_of
from plots.choosing import ALL
from plots.report.__main__ import read_acceptance
from plots.report.page import render
from plots.steps import predict_on
from tests.plots.building import SIZES, law, measured, sets
from tests.plots.test_other_figures import FOUR, STEP
from tests.showing.sweeps import write


class Outline(HTMLParser):
    """Tags with their attributes, and the text of headings."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def of(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.tags if name == tag]


def page(*sweeps: Sweep, accepted: dict[str, Any] | None = None) -> str:
    def steps(sound: Sequence[SweepSet]) -> Sequence[StepPrediction]:
        return predict_on(sound, steps_of(STEP), None, mode=None, assume_ring=False)

    return render(sets(*sweeps), ALL, steps, accepted)


@cache
def whole() -> str:
    sizes = SIZES[8:26]
    nvlink = measured("nvlink", collectives=FOUR, sizes=sizes)
    return page(nvlink, measured("host", law(10e-6, 25e9), collectives=FOUR, sizes=sizes, path="SHM/direct/direct"))


def test_warnings_come_first() -> None:
    sections = [attributes.get("id") for attributes in Outline(whole()).of("section")]
    assert sections == ["warnings", "verdicts", "machine", "figures", "models", "step", "compared", "tables"]


def test_nothing_on_it_asks_a_network() -> None:
    """No address but those of this page and of XML's own names."""
    outline = Outline(whole())
    links = [v for _, attributes in outline.tags for k, v in attributes.items() if k in ("src", "href", "action") and v]
    assert [link for link in links if not link.startswith(("#", "data:"))] == []
    assert set(re.findall(r"https?://[^\s\"'<]+", whole())) <= {
        "http://www.w3.org/2000/svg",
        "http://www.w3.org/1999/xlink",
    }
    assert "@import" not in whole()


def test_ids_are_unique() -> None:
    """Each figure brings ids of its own, which clip paths and labels refer to."""
    ids = [attributes["id"] for _, attributes in Outline(whole()).tags if "id" in attributes]
    assert len(ids) == len(set(ids))


def test_references_inside_figures_lead_somewhere() -> None:
    ids = {attributes.get("id") for _, attributes in Outline(whole()).tags}
    used = set(re.findall(r"url\(#([^)]+)\)", whole())) | set(re.findall(r'href="#([^"]+)"', whole()))
    assert used
    assert used <= ids


def test_a_figure_a_collective_and_question() -> None:
    figures = [attributes.get("id") for attributes in Outline(whole()).of("figure")]
    assert figures == [*(f"bandwidth-{c}" for c in FOUR), *(f"ratio-{c}" for c in FOUR), "training"]


def test_figures_have_a_name_for_screen_readers() -> None:
    svgs = Outline(whole()).of("svg")
    assert [svg for svg in svgs if svg.get("role") != "img" or not svg.get("aria-labelledby")] == []
    assert "Bus bandwidth and time of all_gather over message size</title>" in whole()


def test_figures_follow_the_readers_colours() -> None:
    """No colour of the light theme stands in a figure but as the fallback of a variable."""
    figures = whole()[whole().index("<figure") : whole().index('id="models"')]
    assert re.findall(r"(?<!, )#0072b2", figures) == []
    assert "var(--series-0, #0072b2)" in figures


def test_every_table_has_a_caption_and_heads() -> None:
    outline = Outline(whole())
    assert len(outline.of("caption")) == len(outline.of("table"))
    assert [head for head in outline.of("th") if head.get("scope") not in ("col", "row")] == []


def test_every_measurement_is_in_a_table() -> None:
    table = whole()[whole().index('id="measurements-0"') :]
    assert table[: table.index("</table>")].count("<tr>") == 1 + len(FOUR) * 18


def test_sizes_sort_by_their_bytes() -> None:
    assert 'data-value="1048576">1 MiB' in whole()


def test_the_verdict_is_that_of_compare() -> None:
    assert re.search(r'class="verdict">host is slower than nvlink at \d+ sizes', whole())


def test_an_unproved_path_stands_in_the_heading_and_first_among_the_warnings() -> None:
    text = page(measured("nvlink", sizes=SIZES[8:20], path=None))
    assert "(path NOT proved)" in text[text.index("<h1>") : text.index("</h1>")]
    first = text[text.index('id="warnings-head"') :]
    assert first.index("nothing proves which path") < first.index("</section>")
    assert "all_reduce (path NOT proved)" in text


def test_a_void_sweep_stands_in_no_figure() -> None:
    one = measured("host", sizes=SIZES[8:20])
    void = one.__class__(one.header, one.measurements, end=one.end, voids=(Void(sweep="s", reason="it took P2P"),))
    text = page(measured("nvlink", sizes=SIZES[8:20]), void)
    assert "host is void and stands in no figure: it took P2P" in text
    assert 'id="ratio-all_reduce"' not in text
    assert 'id="bandwidth-all_reduce"' in text


def test_what_cannot_be_made_is_said() -> None:
    """One collective prices no training step."""
    text = page(measured("nvlink", sizes=SIZES[8:20], collectives=("reduce",)))
    assert re.search(r"training: no step could be priced \(\S+ was not measured", text)


def test_no_sound_sweep_still_gives_a_page() -> None:
    one = measured(sizes=SIZES[:2])
    void = one.__class__(one.header, one.measurements, end=one.end, voids=(Void(sweep="s", reason="it took P2P"),))
    assert "void" in page(void)


def test_labels_are_text() -> None:
    """A label comes from a file and may hold anything."""
    text = page(measured("<script>alert(1)</script>", sizes=SIZES[8:20]))
    assert "<script>alert" not in text
    assert "&lt;script&gt;alert(1)" in text


CHECKS = acceptance(
    "two H200", "2 ranks of NVIDIA H200",
    [
        Check(name="all_reduce 1 GiB busbw", limit="at least 330 GB/s", outcome="fail", reason="27.2 GB/s is below 330",
              measured=27.2e9, interval=(27.1e9, 27.3e9), unit="B/s"),
        Check(name="path", limit="P2P", outcome="pass", reason="P2P is proved"),
    ],
)  # fmt: skip


@cache
def judged() -> str:
    return page(measured(sizes=SIZES[8:20]), accepted=msgspec.json.decode(msgspec.json.encode(CHECKS)))


def test_the_acceptance_stands_among_the_verdicts() -> None:
    assert 'class="verdict bad">Acceptance: fail' in judged()


def test_its_checks_have_units() -> None:
    table = judged()[judged().index('id="checks"') :]
    assert [word for word in ("27.2 GB/s", "27.1 GB/s to 27.3 GB/s", "at least 330 GB/s") if word not in table] == []


@pytest.mark.parametrize("content", [b"", b"[]", b'{"checks":[1],"verdict":"pass"}', b'{"checks":[]}', b"\xff"])
def test_an_acceptance_that_is_none_is_refused(tmp_path: Path, content: bytes) -> None:
    from commbench.errors import SweepFileError

    file = tmp_path / "accept.json"
    file.write_bytes(content)
    with pytest.raises(SweepFileError, match="acceptance cannot be read"):
        read_acceptance(str(file))


def test_the_program_writes_the_page(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from plots.report.__main__ import main

    file, output = write(tmp_path / "a.jsonl", measured(sizes=SIZES[8:20])), tmp_path / "page.html"
    assert main([str(file), "--output", str(output), "--title", "Ours"]) == 0
    assert "<title>Ours</title>" in output.read_text(encoding="utf-8")
    assert capsys.readouterr().out == f"{output}\n"


def test_a_refusal_of_steps_is_told() -> None:
    def refused(_: object) -> Any:
        raise RefusedModelError("no", expected="curves", found="none at all", fix="measure")

    assert "training: no (none at all)" in render(sets(measured(sizes=SIZES[8:20])), ALL, refused)
