"""Which curves stand in a figure, and what is refused."""

import pytest
from msgspec.structs import replace

from commbench.errors import UsageError
from commbench.sweepfile.records import Void
from plots.choosing import ALL, Choice, lines_of, names_of, refuse_void
from plots.running import DrawingError
from tests.plots.building import measured, sets
from tests.showing.sweeps import point


def test_modes_are_never_in_one_line() -> None:
    """One set of two modes gives two lines, named by their modes."""
    lines = lines_of(sets(measured(modes=("isolated", "graph"))), ALL, modes=True)["all_reduce"]
    assert [(line.legend, line.curve.key.mode) for line in lines] == [("isolated", "isolated"), ("graph", "graph")]


def test_settings_are_shown_in_one_mode() -> None:
    """Beside another set, only the mode that both have: pipelined before isolated."""
    two = sets(measured("a", modes=("isolated", "pipelined")), measured("b", modes=("isolated", "pipelined")))
    lines = lines_of(two, ALL, modes=True)["all_reduce"]
    assert [(line.name, line.curve.key.mode) for line in lines] == [("a", "pipelined"), ("b", "pipelined")]


def test_settings_without_a_common_mode_are_refused() -> None:
    two = sets(measured("a", modes=("isolated",)), measured("b", modes=("graph",)))
    with pytest.raises(UsageError, match="no mode in common"):
        lines_of(two, ALL)


def test_two_types_are_refused_until_one_is_chosen() -> None:
    one = measured()
    both = one.__class__(one.header, (*one.measurements, *(replace(m, dtype="bfloat16") for m in one.measurements)))
    with pytest.raises(UsageError, match="several types"):
        lines_of(sets(both), ALL)
    lines = lines_of(sets(both), Choice(dtype="bfloat16"))["all_reduce"]
    assert [line.curve.key.dtype for line in lines] == ["bfloat16"]


def test_a_placement_is_chosen_for_the_whole_figure() -> None:
    """all_reduce is measured in place only, so all_gather is shown in place too."""
    one = measured(collectives=("all_reduce", "all_gather"))
    out = [replace(m, placement="out") for m in one.measurements if m.collective == "all_gather"]
    columns = lines_of(sets(one.__class__(one.header, (*one.measurements, *out))), ALL)
    assert {line.curve.key.placement for lines in columns.values() for line in lines} == {"in"}


def test_out_of_place_comes_first_where_both_cover_all() -> None:
    one = measured()
    both = one.__class__(one.header, (*one.measurements, *(replace(m, placement="out") for m in one.measurements)))
    assert [line.curve.key.placement for line in lines_of(sets(both), ALL)["all_reduce"]] == ["out"]


def test_collectives_come_in_the_order_asked_for() -> None:
    one = sets(measured(collectives=("all_reduce", "all_gather", "reduce")))
    assert list(lines_of(one, Choice(collectives=("reduce", "all_reduce")))) == ["reduce", "all_reduce"]


def test_one_rank_is_not_drawn() -> None:
    """Nothing crosses a link there."""
    with pytest.raises(DrawingError, match="nothing to draw"):
        lines_of(sets(measured(world_size=1, ranks_per_host=(1,))), ALL)


def test_a_void_sweep_is_refused() -> None:
    one = measured()
    void = one.__class__(one.header, one.measurements, voids=(Void(sweep="s", reason="NCCL took SHM, not P2P"),))
    with pytest.raises(DrawingError) as caught:
        refuse_void(sets(void)[0])
    assert (caught.value.exit_code, caught.value.found) == (1, "NCCL took SHM, not P2P")


def test_wrong_results_are_refused() -> None:
    one = measured()
    wrong = one.__class__(one.header, (*one.measurements, point(correct=False, wrong=3, mode="pipelined")))
    with pytest.raises(DrawingError, match="void"):
        refuse_void(sets(wrong)[0])


def test_sets_of_one_label_have_different_names() -> None:
    """Ranks tell them apart."""
    assert names_of(sets(measured("a"), measured("a", world_size=4))) == ("a, 2 ranks", "a, 4 ranks")
