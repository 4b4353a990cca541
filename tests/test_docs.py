"""The docs say what the program does: links lead somewhere, options exist, every warning is defined."""

import re
from pathlib import Path

import pytest

from commbench.__main__ import VERBS
from commbench.intervals import FEWEST_FOR_MEDIAN, median_ranks
from commbench.measuring import plan, roll_call, stopping, watch
from commbench.measuring.command_line import parser
from commbench.measuring.options import DEFAULT_GRAPH_CALLS
from commbench.measuring.payload import PERIOD, Payload
from commbench.measuring.stopping import Rule
from commbench.pairing.options import command_line as pairs_command_line
from commbench.replaying.options import command_line as replay_command_line
from commbench.showing import bound, machine, noise, skew
from commbench.verbs import importing, training
from mpi.sweep import EXTRAS

ROOT = Path(__file__).parents[1]
PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("benchmarks/*.md")])
# Options in our pages that belong to torchrun, pip, docker, make, git or another verb of ours.
FOREIGN = {
    *("--standalone", "--nproc-per-node", "--nnodes", "--rdzv-backend", "--rdzv-endpoint", "--numa-binding"),
    *("--rendezvous", "--nodes", "--format", "--help", "--version", "--map-by"),
    *("--binaries", "--launch", "--export", "--sweeps"),
    *("--example", "--make-baseline", "--false-alarms", "--detect", "--every-size", "--history", "--keep", "--junit"),
    *("--nagios", "--prometheus", "--sweep", "--commbench-sweep", "--junit-xml", "--from-file", "--begin"),
    *("--nodes", "--ntasks-per-node", "--gpus-per-node", "--exclusive", "--time"),
    *("--output", "--theme", "--title", "--accept"),
    *("--size", "--save", "--collective", "--reference"),
    *("--settings", "--launches", "--program", "--across", "--mca", "--single-value"),
    *("--model", "--strategy", "--variant", "--set", "--parameters", "--layers", "--schedule", "--world-size"),
}


ALIGNMENT, POISON = 512, 0xA5  # of commbench.measuring.torch_buffers, which would load torch
SUBSCRIPTS = str.maketrans("0123456789", "₀₁₂₃₄₅₆₇₈₉")


def _low(samples: int) -> str:
    return str((median_ranks(samples) or (0, 0))[0] + 1).translate(SUBSCRIPTS)


def _high(samples: int) -> str:
    return str((median_ranks(samples) or (0, 0))[1] + 1).translate(SUBSCRIPTS)


def anchors(page: Path) -> set[str]:
    """The anchors that GitHub makes of a page's headings."""
    heads = re.findall(r"^#+ (.+)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links name a file of the checkout, and anchors a heading in it."""
    for target in re.findall(r"\]\(([^)]+)\)", page.read_text()):
        if "://" in target:
            continue
        path, _, anchor = target.partition("#")
        file = (page.parent / path).resolve() if path else page
        assert file.exists(), target
        assert not anchor or anchor in anchors(file), target


@pytest.mark.parametrize("page", [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))], ids=lambda page: page.name)
def test_long_options_exist(page: Path) -> None:
    """An option that a page names is one that the program has."""
    parsers = (
        parser("commbench.sweep", EXTRAS),
        training.command_line(),
        importing.command_line(),
        replay_command_line("commbench.replay", EXTRAS),
        pairs_command_line("commbench.pairs"),
    )
    known = {option for each in parsers for action in each._actions for option in action.option_strings}
    named = set(re.findall(r"(?<![\w-])--[a-z][\w-]+", page.read_text()))
    assert named - known - FOREIGN == set()


def test_verbs_exist() -> None:
    """`commbench VERB` in the README names a verb."""
    named = re.findall(r"(?:^ +|`)commbench ([a-z]+(?:-[a-z]+)*)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert named
    assert set(named) <= set(VERBS)


def test_every_warning_is_defined() -> None:
    """docs/measuring.md has a line for each kind of warning."""
    source = "\n".join(path.read_text() for path in (ROOT / "commbench" / "showing").glob("*.py"))
    kinds = set(re.findall(r'ResultWarning\(\s*"([a-z-]+)"', source)) - {"notice"}
    section = (ROOT / "docs" / "measuring.md").read_text().partition("## Warnings")[2].partition("\n## ")[0]
    assert kinds
    assert kinds <= set(re.findall(r"`([a-z-]+)`", section))


def _calls_in_place(dtype: str, ranks: int) -> float:
    return Payload(dtype, "sum", ranks).calls_in_place


@pytest.mark.parametrize(
    "phrase",
    [
        f"After {FEWEST_FOR_MEDIAN} samples",
        f"is at most {100 * Rule.target:.0f} % of the median (`--target`)",
        f"has taken {Rule.limit} s (`--limit`)",
        f"and as {stopping.LARGEST_BATCH}; at least 1",
        f"{stopping.CALLS_IN_FLIGHT}, or as many as last {stopping.PIPELINE * 1e3:.0f} ms if that is more",
        f"but at least {stopping.FEWEST_IN_FLIGHT};",
        f"a sample {stopping.RESOLUTIONS_PER_SAMPLE} clock resolutions long",
        f"({DEFAULT_GRAPH_CALLS}, or `-m`)",
        f"prime period {PERIOD}",
        f"{ALIGNMENT} bytes",
        f"0x{POISON:X} bytes",
        f"{_calls_in_place('float32', 2)} calls on one slice with 2 ranks and {_calls_in_place('float32', 8)} with 8",
        f"float16 with 8 ranks takes {_calls_in_place('float16', 8)}.",
        f"and {100 * plan.USABLE:.0f} % of that",
        f"position every {roll_call.HEARTBEAT} s",
        f"after {roll_call.STOPPED:.0f} s, when its process",
        f"after {roll_call.SILENCE:.0f} s without a heartbeat",
        f"| start | {watch.PHASES['start']:.0f} s |",
        f"with the first check | {watch.PHASES['warm-up']:.0f} s + message / {watch.SLOWEST_RATE / 1e6:.0f} MB/s",
        f"plus {watch.PATIENCE:.0f} times the time",
        f"at least {bound.HOST_PACED} times that of the CUDA graph",
        f"gap above {100 * skew.LATE:.0f} % of the time",
        f"gap above {100 * skew.SLOW:.0f} %",
        f"above {skew.SLOW_GROUP} times the median group",
        f"spread above {100 * noise.SPREAD:.0f} %",
        f"above {noise.OUTLIER:.0f} times the median",
        f"shorter than {noise.READINGS} clock resolutions",
        f"else {machine.HOT:.0f} °C",
        *(f"| {n} | x{_low(n)} | x{_high(n)} |" for n in (6, 10, 20, 50)),
    ],
)
def test_constants_are_those_of_the_code(phrase: str) -> None:
    """docs/measuring.md says each number as the code has it today."""
    assert phrase in " ".join((ROOT / "docs" / "measuring.md").read_text().split())
