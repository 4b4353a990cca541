"""The report in a real browser, as wide as a phone and as a desk: no error, no request, figures seen, tables sorted."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.plots.browser import PROGRAMS, Page, chromium, opened
from tests.plots.test_report import whole

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(chromium() is None, reason=f"needs a Chromium: none of {', '.join(PROGRAMS)} on the PATH"),
]
PHONE, DESK = 390, 1440


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("page") / "report.html"
    made.write_text(whole(), encoding="utf-8")
    return made


@pytest.fixture(scope="module")
def browser(file: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    with opened(tmp_path_factory.mktemp("profile")) as page:
        page.resize(DESK)
        page.open(file)
        yield page


def test_it_loads_without_a_problem(browser: Page, file: Path) -> None:
    """No error or warning in the console, and no request but for the page itself."""
    assert browser.problems == []
    assert [
        address for address in browser.requests if address != file.as_uri() and not address.startswith("data:")
    ] == []


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_nothing_is_wider_than_the_window(browser: Page, width: int) -> None:
    """Only tables scroll sideways, each in its own frame."""
    browser.resize(width)
    assert browser.value("document.documentElement.scrollWidth") <= width


@pytest.mark.parametrize("width", [PHONE, DESK])
def test_figures_are_visible(browser: Page, width: int) -> None:
    """Each drawing fills its place, and its words stand inside it."""
    browser.resize(width)
    boxes = browser.value(
        "[...document.querySelectorAll('figure svg')].map(svg => {const box = svg.getBoundingClientRect();"
        "return [box.width, box.height, [...svg.querySelectorAll('text')].every(text => {"
        "const t = text.getBoundingClientRect(); return t.left >= box.left - 2 && t.right <= box.right + 2})]})"
    )
    assert len(boxes) == 9
    assert [box for box in boxes if box[0] < 0.7 * min(width, 480) or box[1] < 100 or not box[2]] == []


def test_words_in_figures_are_legible_on_a_phone(browser: Page) -> None:
    browser.resize(PHONE)
    smallest = browser.value(
        "Math.min(...[...document.querySelectorAll('figure svg text')].map(text =>"
        "parseFloat(getComputedStyle(text).fontSize) * text.closest('svg').getBoundingClientRect().width"
        " / text.closest('svg').viewBox.baseVal.width))"
    )
    assert smallest >= 7.5


def colour(page: Page, script: str) -> float:
    """How light a colour is, 0 to 255."""
    found = str(page.value(script))
    return sum(float(part) for part in found[found.index("(") + 1 : -1].split(",")[:3]) / 3


def test_dark_mode_reaches_page_and_figures(browser: Page) -> None:
    """Light words on a dark page, and in the figures too."""
    for dark in (True, False):
        browser.resize(DESK, dark=dark)
        paper = colour(browser, "getComputedStyle(document.documentElement).backgroundColor")
        ink = colour(browser, "getComputedStyle(document.querySelector('figure svg text')).fill")
        assert (paper < 80 < 160 < ink) if dark else (ink < 120 < 200 < paper)


def test_a_click_sorts_by_numbers(browser: Page) -> None:
    """Times, first ascending, then descending; not by their digits as text."""
    script = (
        "(() => {const table = document.getElementById('measurements-0');"
        "const heads = [...table.tHead.rows[0].cells], n = heads.findIndex(h => h.textContent.startsWith('time'));"
        "heads[n].querySelector('button').click();"
        "return [heads[n].ariaSort, [...table.tBodies[0].rows].map(row => Number(row.cells[n].innerText))]})()"
    )
    way, up = browser.value(script)
    assert (way, up) == ("ascending", sorted(up))
    way, down = browser.value(script)
    assert (way, down) == ("descending", sorted(down, reverse=True))


def test_a_keyboard_sorts_too(browser: Page) -> None:
    """Heads are buttons: they take the focus, and Enter presses them."""
    browser.value("document.querySelector('#fits thead button').focus()")
    for kind in ("keyDown", "keyUp"):
        browser.call(
            "Input.dispatchKeyEvent", type=kind, key="Enter", code="Enter", windowsVirtualKeyCode=13, text="\r"
        )
    assert browser.value("document.querySelector('#fits th').ariaSort") == "ascending"


def test_words_filter_rows(browser: Page) -> None:
    shown = browser.value(
        "(() => {const box = document.getElementById('measurements-1').closest('.table');"
        "const input = box.querySelector('input'); input.value = 'all_gather 1 MiB';"
        "input.dispatchEvent(new Event('input'));"
        "const shown = [...box.querySelectorAll('tbody tr')].filter(row => !row.hidden);"
        "return [shown.length, box.querySelector('output').value]})()"
    )
    assert shown == [1, "1 of 72 rows"]


def test_print_shows_every_row(browser: Page) -> None:
    """Frames that scroll on a screen are open on paper."""
    browser.call("Emulation.setEmulatedMedia", media="print")
    heights = browser.value(
        "[...document.querySelectorAll('.scroll')].map(box => [box.scrollHeight, box.clientHeight])"
    )
    browser.call("Emulation.setEmulatedMedia", media="")
    assert [pair for pair in heights if pair[0] > pair[1] + 1] == []
