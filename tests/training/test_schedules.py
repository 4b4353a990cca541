"""Schedules without a framework: a case computed by hand, known figures of large models, and what is refused."""

import re
from collections import Counter
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path

import pytest

from commbench.collectives import COLLECTIVES
from commbench.errors import UsageError
from commbench.training.architectures import named
from commbench.training.call import Schedule
from commbench.training.schedules import STRATEGIES, knobs_of, schedule, variants
from commbench.training.shapes import Parameter, Shapes
from commbench.units import MIB

# Four parameters of 18 elements together: 6, 4, 2, 6 in order of registration; gradients finish in reverse.
HAND = Shapes(
    "by hand", "this test",
    (Parameter("embed.weight", (3, 2)), Parameter("layer.weight", (2, 2)), Parameter("layer.bias", (2,)),
     Parameter("head.weight", (3, 2))),
    executed=("embed", "layer", "head"), blocks=("layer",), lookups=("embed",),
)  # fmt: skip
EIGHT_BYTES = str(8 / MIB)  # of bucket_cap_mb


def by_hand(strategy: str, variant: str | None = None, settings: Mapping[str, str] | None = None) -> list[str]:
    """Calls on two ranks in words: phase, collective, bytes, and the root where there is one."""
    calls = schedule(strategy, HAND, 2, variant, settings).calls
    return [
        f"{call.phase} {call.collective} {call.message_bytes}" + ("" if call.root is None else f" to {call.root}")
        for call in calls
    ]


def test_dp_by_hand() -> None:
    """bfloat16, buckets of 8 bytes: head is 12 and closes; bias 4 and weight 8 close together; embed is 12."""
    assert by_hand("dp", settings={"bucket_cap_mb": EIGHT_BYTES}) == ["backward all_reduce 12"] * 3


def test_the_first_bucket_of_dp_is_everything() -> None:
    """18 elements of 2 bytes."""
    assert by_hand("dp", settings={"first_iteration": "true"}) == ["backward all_reduce 36"]


def test_buckets_are_rebuilt_with_two_broadcasts_of_int32() -> None:
    """Four indices and their count; then three sizes."""
    settings = {"bucket_cap_mb": EIGHT_BYTES, "rebuild_iteration": "true"}
    assert by_hand("dp", settings=settings)[:2] == ["forward broadcast 20 to 0", "forward broadcast 12 to 0"]


STEP = ["step all_reduce 1", "step all_reduce 4"]  # overflow flag and norm
BUCKET_OF_SIX = {"reduce_bucket_size": "6"}


def test_zero2_by_hand() -> None:
    """Buckets of 6 elements, then one AllGather of 18 elements padded to 20: a multiple of 2 on each of 2 ranks."""
    assert by_hand("zero2", settings=BUCKET_OF_SIX) == ["backward all_reduce 12"] * 3 + [*STEP, "step all_gather 40"]


def test_zero2_without_multi_rank_by_hand() -> None:
    """Rank 0 owns embed and weight (10 elements), rank 1 bias and head: the bucket of bias and weight is cut."""
    reduces = ["12 to 1", "4 to 1", "8 to 0", "12 to 0"]
    expected = [f"backward reduce {each}" for each in reduces] + [*STEP, "step all_gather 40"]
    assert by_hand("zero2", "multi-rank-off", BUCKET_OF_SIX) == expected


def test_zero2_of_the_paper_by_hand() -> None:
    """A Reduce for each owner's slice; AllGathers of about 8 elements: 20 // 8 = 2 of them, of 4 and 6 a rank."""
    reduces = ["12 to 1", "4 to 1", "8 to 0", "12 to 0"]
    expected = [f"backward reduce {each}" for each in reduces] + [*STEP, "step all_gather 16", "step all_gather 24"]
    assert by_hand("zero2", "paper", {**BUCKET_OF_SIX, "allgather_bucket_size": "8"}) == expected


def test_ideal_zero2_by_hand() -> None:
    """A ReduceScatter for each bucket."""
    expected = ["backward reduce_scatter 12"] * 3 + ["step all_reduce 4", "step all_gather 40"]
    assert by_hand("zero2", "ideal", BUCKET_OF_SIX) == expected


def test_zero1_reduces_in_order_of_registration_once_backward_is_over() -> None:
    """embed; weight and bias; head."""
    calls = schedule("zero1", HAND, 2, settings=BUCKET_OF_SIX).calls[:3]
    assert [call.carries.split()[2] for call in calls] == ["embed.weight", "layer.weight", "head.weight"]
    assert {call.opens for call in calls} == {1.0}


def test_zero3_by_hand() -> None:
    """The bias stays whole; the rest is gathered for each use, and scattered in buckets of 6 as they fill."""
    settings = {
        "reduce_bucket_size": "6", "stage3_param_persistence_threshold": "2",
        "stage3_prefetch_bucket_size": "0", "stage3_max_reuse_distance": "0",
    }  # fmt: skip
    assert by_hand("zero3", settings=settings) == [
        "forward all_gather 12", "forward all_gather 8", "forward all_gather 12",  # embed, weight, head
        "backward all_gather 12", "backward all_gather 8",  # head, weight
        "backward reduce_scatter 12",  # head, when the bias no longer fits
        "backward all_gather 12",  # embed
        "backward reduce_scatter 12", "backward reduce_scatter 12",  # bias and weight; embed
        "step all_reduce 8", "step all_gather 4",  # the norm is float64; the bias
    ]  # fmt: skip


def test_fsdp_by_hand() -> None:
    """Rows are padded: embed and head have 3, so 4, and the root 2 x 4 x 2 elements; the layer has 6."""
    assert by_hand("fsdp") == [
        "forward all_gather 32", "forward all_gather 12",
        "backward all_gather 12", "backward reduce_scatter 12", "backward reduce_scatter 32",
    ]  # fmt: skip


def test_hsdp_by_hand() -> None:
    """One rank a shard group has nothing to gather: replicas all-reduce what they hold, unpadded."""
    assert by_hand("fsdp", "hsdp", {"mesh": "1"}) == ["backward all_reduce 12", "backward all_reduce 24"]


def sizes(found: Schedule, collective: str) -> Counter[int]:
    """How many messages of each size in bytes."""
    return Counter(call.message_bytes for call in found.calls if call.collective == collective)


def test_ddp_of_a_7b_model_sends_226_buckets_of_which_none_is_25_mib() -> None:
    """Attention 32 MiB; a feed-forward matrix 86 MiB; embedding and head 250 MiB; norms ride along."""
    found = Counter(round(size / MIB) for size in sizes(schedule("dp", named("llama2-7b"), 8), "all_reduce").elements())
    assert found == {32: 128, 86: 96, 250: 2}


@pytest.mark.parametrize(("bucket", "calls"), [("2e8", 39), ("5e8", 14)])
def test_zero2_of_a_7b_model_all_reduces_few_large_buckets(bucket: str, calls: int) -> None:
    """The settings of the seed paper and the defaults."""
    found = schedule("zero2", named("llama2-7b"), 8, settings={"reduce_bucket_size": bucket})
    assert sum(sizes(found, "all_reduce").values()) == calls + 2  # with two scalars
    assert list(sizes(found, "all_gather").elements()) == [2 * 6_738_415_616]


def test_the_papers_zero2_gathers_in_33_pieces() -> None:
    """allgather_bucket_size 2e8 of 6.7e9 parameters."""
    found = schedule("zero2", named("llama2-7b"), 8, "paper", {"allgather_bucket_size": "2e8"})
    assert sum(sizes(found, "all_gather").values()) == 33


@pytest.mark.parametrize(
    ("strategy", "variant", "low", "high"),
    [("dp", "ddp", 1.0, 1.0), ("zero2", "ideal", 2.0, 2.0), ("zero2", "paper", 2.0, 2.0), ("fsdp", None, 2.9, 3.0),
     ("zero3", None, 2.8, 3.0)],
)  # fmt: skip
def test_messages_are_so_many_times_the_model(strategy: str, variant: str | None, low: float, high: float) -> None:
    """In units of Psi; what a strategy keeps for backward is not gathered again."""
    found = schedule(strategy, named("llama2-7b"), 8, variant)
    assert low <= found.message_bytes / 2 / found.parameters <= high + 1e-6


EVERY = [(name, variant) for name in STRATEGIES for variant in variants(name)]


@pytest.mark.parametrize("ranks", [1, 2, 8])
@pytest.mark.parametrize(("strategy", "variant"), EVERY)
def test_calls_are_issued_in_the_order_of_the_work(strategy: str, variant: str, ranks: int) -> None:
    """In every phase of every pass, and none is needed before it is issued."""
    found = schedule(strategy, named("tiny"), ranks, variant, {"gradient_accumulation_steps": "2"}, min(ranks, 2))
    assert all(0.0 <= call.opens <= call.closes <= 1.0 for call in found.calls)
    for before, after in pairwise(found.calls):
        if (before.phase, before.micro_step) == (after.phase, after.micro_step):
            assert before.opens <= after.opens + 1e-12


@pytest.mark.parametrize(("strategy", "variant"), EVERY)
def test_a_schedule_names_what_it_copies(strategy: str, variant: str) -> None:
    """Framework, release, file; and the settings it used."""
    found = schedule(strategy, named("tiny"), 4, variant, ranks_per_host=2)
    assert all((found.framework, found.version, found.source, found.knobs))
    assert (found.strategy, found.variant) == (strategy, variant)


@pytest.mark.parametrize(("strategy", "variant"), EVERY)
def test_shards_are_equal(strategy: str, variant: str) -> None:
    """A message that is sharded divides by its ranks, and none is empty."""
    for call in schedule(strategy, named("tiny"), 6, variant, ranks_per_host=3).calls:
        assert call.elements > 0
        if call.collective in ("all_gather", "reduce_scatter"):
            assert call.elements % call.group.size == 0


def test_accumulation_repeats_what_a_framework_repeats() -> None:
    """DDP and stage 1 reduce once a step; stage 2, stage 3 and FSDP in every pass."""
    backward = {}
    for strategy in STRATEGIES:
        calls = schedule(strategy, named("tiny"), 2, settings={"gradient_accumulation_steps": "3"}).calls
        backward[strategy] = len({call.micro_step for call in calls if "gradients of" in call.carries})
    assert backward == {"dp": 1, "zero1": 1, "zero2": 3, "zero3": 3, "fsdp": 3}


def test_the_groups_of_hsdp_are_a_host_and_its_counterparts() -> None:
    """16 ranks, 8 a host: shards of consecutive ranks, replicas 8 apart."""
    found = schedule("fsdp", named("tiny"), 16, "hsdp", ranks_per_host=8)
    groups = {(call.group.name, call.group.size, call.group.stride) for call in found.calls}
    assert groups == {("shard", 8, 1), ("replicate", 2, 8)}


def test_dtypes_of_parameters_gradients_and_messages_are_apart() -> None:
    """bfloat16 parameters, gradients reduced in float32."""
    found = schedule("fsdp", named("tiny"), 2, settings={"reduce_dtype": "fp32"})
    assert {(call.collective, call.dtype) for call in found.calls} == {
        ("all_gather", "bfloat16"), ("reduce_scatter", "float32"),
    }  # fmt: skip


@pytest.mark.parametrize("name", ["DDP", "ZeRO-2", "zero_3", "FSDP2"])
def test_strategies_are_found_however_they_are_spelled(name: str) -> None:
    """As papers and frameworks write them."""
    assert schedule(name, named("tiny"), 2).calls


@pytest.mark.parametrize("name", STRATEGIES)
def test_an_unknown_setting_is_refused_with_the_known_ones(name: str) -> None:
    """All of them, by the framework's names."""
    with pytest.raises(UsageError) as refused:
        schedule(name, named("tiny"), 2, settings={"bucket_size_mb": "25"})
    assert all(knob.name in refused.value.expected for knob in knobs_of(name))


def test_a_setting_nearly_right_is_suggested() -> None:
    """A typo."""
    with pytest.raises(UsageError, match="did you mean reduce_bucket_size"):
        schedule("zero2", named("tiny"), 2, settings={"reduce_bucket_sise": "1"})


@pytest.mark.parametrize(
    ("strategy", "settings"),
    [
        ("dp", {"bucket_cap_mb": value}) for value in ("", "x", "nan", "inf", "-1", "0", "1e400")
    ] + [
        ("dp", {"first_iteration": "1"}), ("dp", {"comm_hook": "mine"}), ("dp", {"param_dtype": "float33"}),
        ("dp", {"first_iteration": "true", "rebuild_iteration": "true"}),
        ("zero2", {"reduce_bucket_size": "0"}), ("zero2", {"reduce_bucket_size": "1.5"}),
        ("zero2", {"reduce_bucket_size": "1e30"}), ("zero2", {"fp16": "true", "bf16": "true"}),
        ("zero3", {"prefetch_bucket_size": "1", "stage3_prefetch_bucket_size": "2"}),
        ("fsdp", {"reshard_after_forward": "3"}), ("fsdp", {"reshard_after_forward": "maybe"}),
        ("fsdp", {"mesh": "2"}), ("fsdp", {"gradient_accumulation_steps": "0"}),
    ],
)  # fmt: skip
def test_a_value_that_cannot_be_is_refused(strategy: str, settings: dict[str, str]) -> None:
    """Whatever is written after the name."""
    with pytest.raises(UsageError):
        schedule(strategy, named("tiny"), 8, settings=settings)


@pytest.mark.parametrize(
    ("variant", "settings"),
    [
        ("multi-rank-off", {"use_multi_rank_bucket_allreduce": "true"}),
        ("paper", {"use_multi_rank_bucket_allreduce": "false"}),
        ("ideal", {"reduce_scatter": "false"}),
    ],
)
def test_a_setting_against_its_variant_is_refused(variant: str, settings: dict[str, str]) -> None:
    """A variant stands for settings, and older code lacks some."""
    with pytest.raises(UsageError, match="do not go together"):
        schedule("zero2", named("tiny"), 2, variant, settings)


@pytest.mark.parametrize(("ranks", "per_host", "mesh"), [(8, None, None), (8, 3, None), (8, 8, "5"), (6, 4, None)])
def test_a_mesh_that_does_not_fit_is_refused(ranks: int, per_host: int | None, mesh: str | None) -> None:
    """Shards of equal size, or none."""
    with pytest.raises(UsageError, match="shard"):
        schedule("fsdp", named("tiny"), ranks, "hsdp", {"mesh": mesh} if mesh else {}, per_host)


@pytest.mark.parametrize(("strategy", "ranks", "variant"), [("zero4", 2, None), ("dp", 0, None), ("zero2", 2, "best")])
def test_what_there_is_not_is_refused(strategy: str, ranks: int, variant: str | None) -> None:
    """A strategy, a world, a variant."""
    with pytest.raises(UsageError):
        schedule(strategy, named("tiny"), ranks, variant)


def test_settings_are_read_as_frameworks_write_them() -> None:
    """Numbers with an exponent, True, None, and both of DeepSpeed's names."""
    settings = {"prefetch_bucket_size": "4e5", "overlap_comm": "True", "communication_data_type": "None"}
    knobs = schedule("zero3", named("tiny"), 2, settings=settings).knobs
    assert (knobs["stage3_prefetch_bucket_size"], knobs["overlap_comm"]) == (400_000, True)


PAGE = (Path(__file__).parents[2] / "docs" / "training.md").read_text()


@pytest.mark.parametrize("name", STRATEGIES)
def test_every_setting_is_in_the_docs(name: str) -> None:
    """docs/training.md lists them by strategy."""
    rows = [row.split("|") for row in PAGE.partition("## Settings of a strategy")[2].splitlines() if f"`{name}`" in row]
    listed = {word for row in rows if f"`{name}`" in row[1] for word in re.findall(r"`(\w+)`", row[2])}
    assert listed == {knob.name for knob in knobs_of(name)}


@pytest.mark.parametrize(
    "variant", [variant for name in ("dp", "zero2", "zero3", "fsdp") for variant in variants(name)]
)
def test_the_table_of_volumes_holds(variant: str) -> None:
    """docs/training.md: calls, and volumes in units of Psi, of Llama-2 7B on 8 ranks."""
    rows = [row for row in PAGE.splitlines() if row.startswith("|") and f"| `{variant}` |" in row]
    strategies = [name for name in ("dp", "zero2", "zero3", "fsdp") if variant in variants(name)]
    for row, strategy in zip(rows, strategies, strict=True):
        found = schedule(strategy, named("llama2-7b"), 8, variant, ranks_per_host=8)
        bus = sum(COLLECTIVES[call.collective].bus_factor(call.group.size) * call.message_bytes for call in found.calls)
        twice = sum(call.message_bytes for call in found.calls if call.collective == "all_reduce")
        volumes = (found.message_bytes + twice, found.message_bytes, bus)
        expected = [f"{len(found.calls)}", *(f"{each / 2 / found.parameters + 1e-6:.2f} Ψ" for each in volumes)]
        assert [cell.strip(" *") for cell in row.split("|")[5:9]] == expected
