"""Verdicts on sweeps of a known law: what passes, what fails, and what nobody can tell."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import msgspec
import numpy as np
import pytest

from commbench.judging.acceptance import accept
from commbench.judging.limits import parse_limits
from commbench.sweepfile.reader import Sweep
from commbench.sweepfile.records import End, LeftOut, Void

from .limits_files import CLUSTER, check, judged, limits_text
from .synthetic import law, sweep


def limit(quantity: str, bound: str, *, size: str | None = "2M", word: str = "at_least", **more: str) -> str:
    lines = [
        "[[limit]]",
        'collective = "all_reduce"',
        f'quantity = "{quantity}"',
        f'{word} = "{bound}"',
        'reason = "r"',
    ]
    lines += [f'size = "{size}"'] if size else []
    return "\n" + "\n".join([*lines, *(f'{name} = "{value}"' for name, value in more.items())])


def changed(one: Sweep, **fields: Any) -> Sweep:
    """A sweep whose measurements have other fields."""
    measurements = tuple(msgspec.structs.replace(m, **fields) for m in one.measurements)
    return Sweep(one.header, measurements, end=one.end)


def test_an_interval_that_keeps_the_limit_passes() -> None:
    assert judged(limits_text("3 ms"), sweep("a")).verdict == "pass"


def test_an_interval_that_misses_the_limit_fails() -> None:
    assert judged(limits_text("1.5 ms"), sweep("a")).verdict == "fail"


def test_an_interval_across_the_limit_is_inconclusive() -> None:
    result = judged(limits_text(f"{law(2 << 20) * 1e6 * 1.001:.2f} us"), sweep("a"))
    assert result.verdict == "inconclusive"


def test_inconclusive_says_how_many_more_samples_would_decide() -> None:
    """The half interval shrinks with the root of the samples, so as many more as that takes."""
    few = check(judged(limits_text(f"{law(2 << 20) * 1e6 * 1.004:.2f} us"), sweep("a", seed=4)), "all_reduce sum")
    assert few.outcome == "inconclusive"
    assert few.more_samples is not None
    assert few.measured is not None
    assert few.interval is not None
    assert few.bound is not None
    end = few.interval[1] if few.measured < few.bound else few.interval[0]
    wanted = 12 * (np.log(end / few.measured) / np.log(few.bound / few.measured)) ** 2
    assert few.more_samples == pytest.approx(wanted - 12, abs=1)


def test_a_tolerance_moves_the_limit() -> None:
    text = limits_text("2 ms").replace('reason = "a test"', 'reason = "a test"\ntolerance = "20 %"')
    assert judged(text, sweep("a")).verdict == "pass"


@pytest.mark.parametrize(
    ("field", "value"),
    [("world_size", "4"), ("ranks_per_host", "1"), ("device", '"NVIDIA H200"'), ("backend", '"nccl"')],
)
def test_another_machine_is_not_verified(field: str, value: str) -> None:
    text = limits_text(**{field: value})
    if field == "world_size":
        text = text.replace("ranks_per_host = 2", "ranks_per_host = 4")
    assert judged(text, sweep("a")).verdict == "not_verified"


def test_another_machine_is_not_failed_by_limits_that_are_not_its_own() -> None:
    assert judged(limits_text("1 us", device='"NVIDIA H200"'), sweep("a")).verdict == "not_verified"


def test_a_machine_that_is_not_stated_is_not_verified() -> None:
    one = sweep("a", environment={"device": None})
    assert judged(limits_text(), one).verdict == "not_verified"


def test_a_device_may_be_a_pattern() -> None:
    assert judged(limits_text(device='"C*"'), sweep("a")).verdict == "pass"


@pytest.mark.parametrize(
    ("proved", "verdict"),
    [(("sm",), "pass"), (("sm/1",), "pass"), (("tcp",), "fail"), (("sm", "tcp"), "fail"), (None, "not_verified")],
)
def test_the_path_must_be_proved_and_no_other(proved: tuple[str, ...] | None, verdict: str) -> None:
    assert check(judged(limits_text(), sweep("a", proved=proved)), "path").outcome == verdict


def test_every_required_path_must_be_proved() -> None:
    assert check(judged(limits_text(path='["sm", "NET"]'), sweep("a")), "path").outcome == "fail"


def test_a_path_may_be_allowed_beside() -> None:
    text = limits_text(path='"sm"', also_allowed='["tcp"]')
    assert check(judged(text, sweep("a", proved=("sm", "tcp"))), "path").outcome == "pass"


def test_any_wrong_element_fails() -> None:
    """Also at a size that no limit is about."""
    one = sweep("a")
    first = msgspec.structs.replace(one.measurements[0], correct=False, wrong=1)
    assert judged(limits_text(), Sweep(one.header, (first, *one.measurements[1:]), end=one.end)).verdict == "fail"


def test_wrong_data_of_another_machine_fails_too() -> None:
    assert judged(limits_text(device='"NVIDIA H200"'), changed(sweep("a"), correct=False, wrong=3)).verdict == "fail"


def test_unchecked_results_are_not_verified() -> None:
    assert judged(limits_text(), sweep("a", correct=None)).verdict == "not_verified"


def test_a_missing_size_is_not_verified() -> None:
    assert judged(limits_text().replace("2M", "1G"), sweep("a")).verdict == "not_verified"


def test_a_hole_in_a_range_is_not_verified() -> None:
    """Sizes of the law are a factor 4 apart, a range asks for every power of two."""
    text = limits_text("1 s").replace('size = "2M"', 'sizes = "8..2M"')
    assert judged(text, sweep("a")).verdict == "not_verified"


def test_a_range_asks_for_as_many_sizes_as_its_factor_says() -> None:
    text = limits_text("1 s").replace('size = "2M"', 'sizes = "8..2M"\nfactor = 4')
    assert judged(text, sweep("a")).verdict == "pass"


def test_another_mode_is_not_verified() -> None:
    assert judged(limits_text(mode='"pipelined"'), sweep("a")).verdict == "not_verified"


@pytest.mark.parametrize("status", ["aborted", "timed-out"])
def test_a_sweep_that_did_not_finish_is_not_verified(status: Any) -> None:
    one = sweep("a")
    end = End(sweep=one.header.sweep, finished_at="2026-11-29T10:01:00Z", status=status)
    assert judged(limits_text(), Sweep(one.header, one.measurements, end=end)).verdict == "not_verified"


def test_a_point_left_out_is_not_verified() -> None:
    one = sweep("a")
    left = LeftOut(
        sweep=one.header.sweep, collective="all_reduce", message_bytes=2 << 20, reason="memory", dtype="float16"
    )
    assert judged(limits_text(), Sweep(one.header, one.measurements, (left,), end=one.end)).verdict == "not_verified"


def test_a_void_sweep_is_not_verified() -> None:
    one = sweep("a")
    void = Void(sweep=one.header.sweep, reason="the setting did not take")
    assert (
        judged(limits_text(), Sweep(one.header, one.measurements, end=one.end, voids=(void,))).verdict == "not_verified"
    )


def test_no_sweep_is_not_verified() -> None:
    assert judged(limits_text()).verdict == "not_verified"


def test_fail_outweighs_not_verified_outweighs_inconclusive() -> None:
    inconclusive = limits_text(f"{law(2 << 20) * 1e6 * 1.001:.2f} us")
    missing = inconclusive + limit("time", "1 s", size="1G", word="at_most")
    failing = missing + limit("time", "1 us", word="at_most", dtype="float32")
    assert [judged(text, sweep("a")).verdict for text in (inconclusive, missing, failing)] == [
        "inconclusive",
        "not_verified",
        "fail",
    ]


def test_the_worst_check_stands_first() -> None:
    result = judged(limits_text("1 ms") + limit("time", "1.5 ms", word="at_most", dtype="float32"), sweep("a"))
    margins = [one.margin for one in result.checks if one.outcome == "fail"]
    assert margins == sorted(margins, key=lambda margin: margin or 0.0)


def test_checks_have_names_of_their_own() -> None:
    result = judged(limits_text() + limit("time", "1 us", word="at_least"), sweep("a"))
    assert len({one.name for one in result.checks}) == len(result.checks)


def test_one_value_has_no_interval_and_says_what_was_assumed() -> None:
    one = check(judged(limits_text(), sweep("a", samples=1, statistic="mean over ranks")), "all_reduce sum")
    assert (one.outcome, one.interval, one.assumed) == ("pass", None, 0.05)


@pytest.mark.parametrize(("bound", "outcome"), [("2.05 ms", "inconclusive"), ("2.3 ms", "pass"), ("1.9 ms", "fail")])
def test_one_value_near_a_limit_is_inconclusive(bound: str, outcome: str) -> None:
    """2.107 ms, give or take the 5 % that are assumed."""
    one = sweep("a", samples=1, noise=0.0)
    assert check(judged(limits_text(bound), one), "all_reduce sum").outcome == outcome


def test_launches_count_and_not_their_samples() -> None:
    """Five launches that differ by 5 % know less than the samples inside one of them say."""
    launches = [sweep("a", seed=seed, launch_noise=0.05, noise=0.001, samples=50) for seed in range(5)]
    typical = np.exp(np.mean([np.log(np.median(one.measurements[-1].seconds)) for one in launches]))
    found = check(judged(limits_text(f"{1.01e6 * typical:.2f} us"), *launches), "all_reduce sum")
    assert (found.outcome, found.basis) == ("inconclusive", "launches")
    assert found.measured == pytest.approx(typical)


def test_a_stated_launch_spread_widens_the_interval() -> None:
    text = limits_text("2.15 ms")
    wide = text.replace('reason = "a test"', 'reason = "a test"\nlaunch_spread = "3 %"\nlaunch_freedom = 4')
    one = sweep("a", noise=0.001, samples=50)
    assert [judged(some, one).verdict for some in (text, wide)] == ["pass", "inconclusive"]


@pytest.mark.parametrize(
    ("quantity", "bound", "word", "size"),
    [
        ("busbw", "0.98 GB/s", "at_least", "2M"),
        ("algbw", "0.98 GB/s", "at_least", "2M"),
        ("latency", "11 us", "at_most", None),
        ("plateau", "0.95 GB/s", "at_least", None),
        ("n_half", "14K", "at_most", None),
        ("spread", "10 %", "at_most", "2M"),
        ("gap", "10 %", "at_most", "2M"),
    ],
)  # fmt: skip
def test_each_quantity_meets_its_law(quantity: str, bound: str, word: str, size: str | None) -> None:
    """10 us and 1 GB/s: bus bandwidth equals algorithm bandwidth for two ranks, n-half is 10 KB."""
    one = sweep("a", noise=0.002, samples=30)
    measurements = tuple(
        msgspec.structs.replace(m, fastest_seconds=tuple(0.98 * second for second in m.seconds))
        for m in one.measurements
    )
    text = CLUSTER + limit(quantity, bound, size=size, word=word)
    assert judged(text, Sweep(one.header, measurements, end=one.end)).verdict == "pass"


def test_a_gap_that_nobody_measured_is_not_verified() -> None:
    assert judged(CLUSTER + limit("gap", "10 %", word="at_most"), sweep("a")).verdict == "not_verified"


def test_a_share_of_a_peak_that_nobody_knows_is_not_verified() -> None:
    assert judged(CLUSTER + limit("busbw", "50 % of peak"), sweep("a")).verdict == "not_verified"


@pytest.mark.parametrize(("share", "outcome"), [("5 % of peak", "pass"), ("90 % of peak", "fail")])
def test_a_share_of_the_peak(share: str, outcome: str) -> None:
    """The law at 100 times the rate: 47 GB/s at 2 MiB, of the 450 of an H200."""
    one = sweep("a", seconds=lambda size: 2.4e-5 + size / 1e11, environment={"device": "NVIDIA H200"})
    text = CLUSTER.replace("CPU", "NVIDIA H200") + limit("busbw", share)
    assert check(judged(text, one), "all_reduce sum").outcome == outcome


def slower(factor: float) -> Callable[[int], float]:
    return lambda size: factor * law(size)


@pytest.mark.parametrize(("factor", "verdict"), [(1.0, "pass"), (1.2, "fail")])
def test_a_share_of_a_stored_baseline(factor: float, verdict: str) -> None:
    text = 'baseline = "good.jsonl"\n' + CLUSTER + limit("busbw", "90 % of baseline")
    result = accept(parse_limits(text.encode()), [sweep("a", seconds=slower(factor), seed=2)], [sweep("good")])
    assert result.verdict == verdict


def test_a_baseline_of_another_machine_is_none() -> None:
    text = 'baseline = "good.jsonl"\n' + CLUSTER + limit("busbw", "90 % of baseline")
    other = sweep("good", environment={"device": "NVIDIA H200"})
    assert accept(parse_limits(text.encode()), [sweep("a")], [other]).verdict == "not_verified"


def nodes(slow: float) -> list[Sweep]:
    return [
        sweep("a", seed=place, seconds=slower(slow if place == 3 else 1.0), environment={"hosts": [f"node{place}"]})
        for place in range(8)
    ]


def test_a_slow_node_is_named() -> None:
    result = judged(CLUSTER + limit("node_spread", "10 %", word="at_most"), *nodes(1.3))
    assert "node3, the slowest of 8 nodes" in check(result, "all_reduce sum").reason
    assert result.verdict == "fail"


def test_alike_nodes_pass() -> None:
    assert judged(CLUSTER + limit("node_spread", "10 %", word="at_most"), *nodes(1.0)).verdict == "pass"


def test_one_node_has_no_spread_between_nodes() -> None:
    result = judged(CLUSTER + limit("node_spread", "10 %", word="at_most"), sweep("a"))
    assert result.verdict == "not_verified"


def test_each_node_is_judged_by_itself() -> None:
    failed = [one.name for one in judged(limits_text("2.4 ms"), *nodes(1.3)).checks if one.outcome == "fail"]
    assert failed == ["all_reduce sum float32 in isolated 2 MiB time @ node3"]


def test_fewer_of_the_same_ranks_are_set_aside() -> None:
    """A sweep with --world-sizes has sub-worlds: they are not judged, and not held against the whole."""
    text = limits_text(world_size="4", ranks_per_host="4")
    whole = sweep("a", world_size=4, ranks_per_host=(4,))
    result = judged(text, whole, sweep("a", seed=1))
    assert (result.verdict, len(result.notes)) == ("pass", 1)


def test_a_copy_of_a_file_is_no_second_launch() -> None:
    result = judged(limits_text(), sweep("a"), sweep("a"))
    assert check(result, "all_reduce sum").basis == "samples"


def test_groups_of_one_sweep_are_nodes() -> None:
    """Two hosts of two ranks, measured at once: the second one takes half as long again."""
    one = sweep("a", world_size=2, ranks_per_host=(2, 2), groups=((0, 1), (2, 3)))
    measurements = tuple(
        msgspec.structs.replace(m, group_seconds=(m.seconds, tuple(1.5 * second for second in m.seconds)))
        for m in one.measurements
    )
    text = CLUSTER + limit("node_spread", "10 %", word="at_most")
    result = judged(text, Sweep(one.header, measurements, end=one.end))
    assert result.verdict == "fail"
    assert "group 1 (ranks 2 to 3)" in check(result, "all_reduce sum").reason


SIXTEEN = CLUSTER.replace("world_size = 2", "world_size = 16").replace("ranks_per_host = 2", "ranks_per_host = 16")


@pytest.mark.parametrize(
    ("collective", "measured", "stands"),
    [
        ("all_reduce", 128, False),  # a neighbour
        ("all_gather", 64, True),  # 8 B rounded up to one float a rank
        ("all_gather", 128, False),
    ],
)
def test_only_a_size_that_rounding_makes_of_it_stands_for_another(collective: str, measured: int, stands: bool) -> None:
    text = (SIXTEEN + limit("time", "1 s", size="8", word="at_most")).replace("all_reduce", collective)
    one = sweep("a", sizes=(measured,), collectives=(collective,), world_size=16, ranks_per_host=(16,))
    assert judged(text, one).verdict == ("pass" if stands else "not_verified")


def test_sweeps_that_only_share_an_id_are_both_judged() -> None:
    assert judged(limits_text(), sweep("a"), changed(sweep("a"), correct=False, wrong=3)).verdict == "fail"


def test_a_copy_from_before_a_resume_is_no_second_sweep() -> None:
    """The file as it was when the run had been killed, beside the whole one."""
    whole = sweep("a")
    earlier = replace(whole, measurements=whole.measurements[:-3], end=None)
    assert judged(limits_text(), earlier, whole).verdict == "pass"


def test_wrong_data_among_fewer_ranks_fails() -> None:
    text = limits_text(world_size="4", ranks_per_host="4")
    fewer = changed(sweep("a", seed=1), correct=False, wrong=1)
    assert judged(text, sweep("a", world_size=4, ranks_per_host=(4,)), fewer).verdict == "fail"


def test_fewer_ranks_on_hosts_that_nobody_states_are_another_machine() -> None:
    text = limits_text(world_size="4", ranks_per_host="4")
    fewer = sweep("a", seed=1, environment={"hosts": None})
    assert judged(text, sweep("a", world_size=4, ranks_per_host=(4,)), fewer).verdict == "not_verified"


@pytest.mark.parametrize("quantity", ["spread", "gap"])
def test_a_clock_that_says_0_shows_neither_spread_nor_gap(quantity: str) -> None:
    one = changed(sweep("a"), seconds=(0.0,) * 8 + (1e-3,), fastest_seconds=(0.0,) * 9)
    assert judged(CLUSTER + limit(quantity, "5 %", word="at_most"), one).verdict == "not_verified"


def test_a_fastest_rank_that_took_longest_is_no_gap() -> None:
    one = changed(sweep("a"), seconds=(1e-3,) * 9, fastest_seconds=(2e-3,) * 9)
    assert judged(CLUSTER + limit("gap", "5 %", word="at_most"), one).verdict == "not_verified"


def test_a_node_that_lacks_a_size_is_not_verified() -> None:
    one, two, three = nodes(1.0)[:3]
    cut = replace(three, measurements=three.measurements[:-1])
    result = judged(CLUSTER + limit("node_spread", "50 %", word="at_most"), one, two, cut)
    assert (result.verdict, "2 MiB was not measured on node2" in str(result.checks)) == ("not_verified", True)


def test_a_range_of_node_spread_asks_for_each_of_its_sizes() -> None:
    text = (CLUSTER + limit("node_spread", "50 %", word="at_most")).replace('size = "2M"', 'sizes = "2M..4M"')
    result = judged(text, *nodes(1.0))
    assert (result.verdict, "4 MiB was not measured on node0" in str(result.checks)) == ("not_verified", True)


@pytest.mark.parametrize("hosts", [["a"], None])
def test_two_settings_of_one_host_are_not_two_nodes(hosts: list[str] | None) -> None:
    text = CLUSTER + limit("node_spread", "50 %", word="at_most")
    both = [sweep(name, environment={"hosts": hosts}) for name in ("a", "b")]
    assert judged(text, *both).verdict == "not_verified"


@pytest.mark.parametrize("quantity", ["busbw", "plateau"])
@pytest.mark.parametrize(
    "spoil",
    [
        lambda one: replace(one, end=None),
        lambda one: replace(one, voids=(Void(sweep=one.header.sweep, reason="fell back"),)),
        lambda one: changed(one, correct=None),
        lambda one: changed(one, correct=False, wrong=1),
        lambda one: sweep("good", proved=("tcp",)),
        lambda one: sweep("good", proved=None),
    ],
)
def test_a_baseline_that_would_not_pass_is_none(quantity: str, spoil: Callable[[Sweep], Sweep]) -> None:
    text = 'baseline = "good.jsonl"\n' + CLUSTER + limit(quantity, "90 % of baseline")
    text = text if quantity == "busbw" else text.replace('size = "2M"\n', "").replace('\nsize = "2M"', "")
    limits = parse_limits(text.encode())
    assert accept(limits, [sweep("a")], [sweep("good")]).verdict == "pass"
    assert accept(limits, [sweep("a")], [spoil(sweep("good"))]).verdict == "not_verified"


def test_a_node_is_held_against_the_baseline_of_its_own() -> None:
    text = 'baseline = "good.jsonl"\n' + CLUSTER + limit("busbw", "90 % of baseline")
    good = [
        sweep("good", seed=place, seconds=slower(factor), environment={"hosts": [f"node{place}"]})
        for place, factor in enumerate((1.0, 2.0))
    ]
    tonight = sweep("a", seconds=slower(2.0), environment={"hosts": ["node1"]})
    assert accept(parse_limits(text.encode()), [tonight], good).verdict == "pass"


def test_a_question_mark_in_a_device_is_one() -> None:
    assert judged(limits_text(device='"C?U"'), sweep("a")).verdict == "not_verified"


@pytest.mark.parametrize("line", ['dtype = "fp32"', 'dtype = "float"', 'op = "SUM"', 'op = "add"'])
def test_a_limit_knows_the_names_that_users_write(line: str) -> None:
    assert judged(limits_text() + line, sweep("a")).verdict == "pass"


def test_too_few_samples_say_how_many_more_give_an_interval() -> None:
    found = check(judged(limits_text("2.1 ms"), sweep("a", samples=4)), "all_reduce sum")
    assert (found.outcome, found.more_samples) == ("inconclusive", 2)
