"""A real launch over real links, judged by limits from earlier launches of the same kind (recorded)."""

from pathlib import Path

import pytest

from commbench.judging.acceptance import accept
from commbench.judging.baseline import make_baseline
from commbench.judging.limits import parse_limits
from commbench.sweepfile.reader import read_sweeps

from .cluster import EmulatedCluster
from .namespaces import unavailable

pytestmark = pytest.mark.cluster

RECORDED = Path(__file__).parents[1] / "data" / "judging" / "emulated4"


def test_a_link_at_half_its_rate_is_rejected(tmp_path: Path) -> None:
    """4 nodes with links of 1 Gbit/s, of which the last has 500 Mbit/s."""
    if reason := unavailable():
        pytest.skip(reason)
    good = [sweep for file in sorted(RECORDED.glob("baseline-*")) for sweep in read_sweeps(file)]
    made = make_baseline(good, false_alarms=0.02, detect=0.05, every_size=False, name="lan")
    file = tmp_path / "now.jsonl"
    sweep = ["all_reduce", "-b", "4M", "-e", "16M", "-f", "4", "--mode", "isolated", "--label", "lan", "-n", "8"]
    with EmulatedCluster(nodes=4, rate="1gbit") as cluster:
        cluster.set_rate(3, "500mbit")
        results = cluster.torchrun("commbench.sweep", [*sweep, "-J", str(file)])
    assert [result.returncode for result in results] == [0] * 4, results[0].stderr
    limits = parse_limits(made.text.encode())
    assert accept(limits, read_sweeps(file)).verdict == "fail"
