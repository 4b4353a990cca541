"""What the framework programs run: one case is a strategy with settings, on a small model; named for its test.

The same cases build our schedules, so program and test cannot drift apart.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from commbench.training.architectures import Gpt, Llama

TINY = Llama(64, 176, 2, 4, 2, 256)
UNEVEN = Llama(24, 50, 3, 3, 1, 37, qkv_bias=True)
"""Nothing in it is a multiple of 4, and some parameters have fewer rows than there are ranks."""
TIED = Llama(32, 48, 2, 2, 2, 64, tied=True)
WIDE = Llama(768, 2048, 1, 4, 4, 512)
"""30 MiB of float32, so that DDP's default buckets of 1 and 25 MiB are both filled."""
GPT = Gpt(16, 40, 2, 30, 6)
MODELS: dict[str, Llama | Gpt] = {"gpt": GPT, "tiny": TINY, "wide": WIDE, "uneven": UNEVEN, "tied": TIED}


BOTH = (2, 4)


@dataclass(frozen=True)
class Case:
    """One configuration.

    Attributes:
        name: of the test.
        strategy, settings, variant: as `commbench.training.schedules.schedule` takes them.
        model: a name of MODELS.
        worlds: the numbers of ranks that it runs on.
    """

    name: str
    strategy: str
    settings: Mapping[str, str] = field(default_factory=dict)
    variant: str | None = None
    model: str = "tiny"
    worlds: tuple[int, ...] = BOTH


def _dp(name: str, model: str = "tiny", **settings: str) -> Case:
    return Case(f"dp: {name}", "dp", {"param_dtype": "float32", **settings}, model=model)


# A bucket of 0.05 MiB holds a few of tiny's parameters; of 0.3 MiB about half of the model.
DDP = (
    _dp("defaults"),
    _dp("defaults, first iteration", first_iteration="true"),
    _dp("defaults, rebuilding", rebuild_iteration="true"),
    Case("dp: defaults of a wide model", "dp", {"param_dtype": "float32"}, model="wide", worlds=(2,)),
    _dp("small buckets", bucket_cap_mb="0.05"),
    _dp("small buckets, rebuilding", bucket_cap_mb="0.05", rebuild_iteration="true"),
    _dp("a bucket filled exactly", bucket_cap_mb="0.0625"),  # by lm_head.weight
    _dp("larger buckets", bucket_cap_mb="0.3"),
    _dp("sizes for each bucket", bucket_cap_mb_list="0.01,0.1,0.05"),
    _dp("sizes for each bucket, first iteration", bucket_cap_mb_list="0.01,0.1,0.05", first_iteration="true"),
    _dp("tiny buckets of an uneven model", "uneven", bucket_cap_mb="0.002"),
    _dp("tied embeddings", "tied", bucket_cap_mb="0.01"),
    _dp("gpt, a bucket for each parameter", "gpt", bucket_cap_mb="0.000001"),
    _dp("gpt, small buckets", "gpt", bucket_cap_mb="0.002"),
    _dp("accumulation", bucket_cap_mb="0.05", gradient_accumulation_steps="3"),
    _dp("unused parameters looked for", bucket_cap_mb="0.05", find_unused_parameters="true"),
    _dp("unused parameters looked for, first iteration", bucket_cap_mb="0.05", find_unused_parameters="true",
        first_iteration="true"),
    _dp("static graph", bucket_cap_mb="0.05", static_graph="true"),
    _dp("static graph, rebuilding", bucket_cap_mb="0.05", static_graph="true", rebuild_iteration="true"),
    _dp("static graph, first iteration", bucket_cap_mb="0.05", static_graph="true", first_iteration="true"),
    _dp("static graph and unused parameters, first iteration", bucket_cap_mb="0.05", static_graph="true",
        find_unused_parameters="true", first_iteration="true"),
    _dp("gradients halved on the way", bucket_cap_mb="0.05", comm_hook="fp16_compress_hook"),
    _dp("bfloat16 parameters", bucket_cap_mb="0.05", param_dtype="bfloat16"),
)  # fmt: skip


def _zero(name: str, stage: int, model: str = "tiny", variant: str | None = None,
          worlds: tuple[int, ...] = (2,), **settings: str) -> Case:  # fmt: skip
    small = {"bf16": "false", "reduce_bucket_size": "40000"}
    return Case(f"zero {name}", f"zero{stage}", {**small, **settings}, variant, model, worlds)


def _zero3(name: str, model: str = "tiny", worlds: tuple[int, ...] = (2,), **settings: str) -> Case:
    """Tiny is smaller than DeepSpeed's persistence threshold, so it is set where gathering is to be seen."""
    return _zero(name, 3, model, None, worlds, **{"stage3_param_persistence_threshold": "0", **settings})


# 40 000 elements are about a third of tiny: some parameters cross the border of two owners, none is larger.
ZERO = (
    _zero("1: defaults", 1, worlds=BOTH),
    _zero("1: one bucket", 1, reduce_bucket_size="5e8"),
    _zero("1: overlapping", 1, overlap_comm="true"),
    _zero("1: multi-rank off", 1, variant="multi-rank-off"),
    _zero("1: accumulation", 1, gradient_accumulation_steps="3"),
    _zero("2: defaults", 2, worlds=BOTH),
    _zero("2: one bucket", 2, reduce_bucket_size="5e8"),
    _zero("2: small buckets, larger parameters split", 2, worlds=BOTH, reduce_bucket_size="3000"),
    _zero("2: a bucket filled exactly", 2, reduce_bucket_size="27712"),  # by lm_head, norm and down_proj
    _zero("2: bfloat16", 2, bf16="true"),
    _zero("2: bfloat16, gradients travel in float32", 2, bf16="true", communication_data_type="float32"),
    _zero("2: bfloat16, gradients accumulate in float32", 2, bf16="true", grad_accum_dtype="float32"),
    _zero("2: bfloat16 without overflow check", 2, bf16="true", check_grad_overflow="false"),
    _zero("2: float16", 2, fp16="true"),
    _zero("2: gpt", 2, "gpt", "multi-rank-off", reduce_bucket_size="20"),
    _zero("2: reduce_scatter off", 2, reduce_scatter="false"),
    _zero("2: multi-rank off", 2, worlds=BOTH, variant="multi-rank-off"),
    _zero("2: multi-rank off, small buckets", 2, worlds=BOTH, variant="multi-rank-off", reduce_bucket_size="3000"),
    _zero("2: multi-rank off, uneven model", 2, "uneven", "multi-rank-off", BOTH, reduce_bucket_size="1000"),
    _zero("2: gradients not contiguous", 2, contiguous_gradients="false"),
    _zero("2: overlapping", 2, overlap_comm="true"),
    _zero("2: round robin", 2, worlds=BOTH, variant="multi-rank-off", round_robin_gradients="true"),
    _zero("2: accumulation", 2, gradient_accumulation_steps="3"),
    _zero("2: tied embeddings", 2, "tied", "multi-rank-off", reduce_bucket_size="3000"),
    _zero("3: defaults, all parameters persist", 3),
    _zero3("3: nothing persists, all is reused"),
    _zero3("3: no reuse", stage3_max_reuse_distance="0"),
    _zero3("3: no reuse, first iteration", stage3_max_reuse_distance="0", first_iteration="true"),
    _zero3("3: no reuse, small parameters persist", worlds=BOTH, stage3_max_reuse_distance="0",
           stage3_param_persistence_threshold="4096"),
    _zero3("3: small parameters persist, first iteration", stage3_param_persistence_threshold="4096",
           first_iteration="true"),
    _zero3("3: few may persist", stage3_max_reuse_distance="0", stage3_param_persistence_threshold="4096",
           stage3_model_persistence_threshold="9000"),
    _zero3("3: reuse within 30 000", stage3_max_reuse_distance="30000"),
    _zero3("3: prefetch of 20 000", worlds=BOTH, stage3_max_reuse_distance="0", stage3_prefetch_bucket_size="20000"),
    _zero3("3: prefetch of 20 000, reuse within 30 000", stage3_max_reuse_distance="30000",
           stage3_prefetch_bucket_size="20000", stage3_param_persistence_threshold="64"),
    _zero3("3: no prefetch", stage3_max_reuse_distance="0", stage3_prefetch_bucket_size="0"),
    _zero3("3: few live", stage3_max_reuse_distance="0", stage3_max_live_parameters="30000"),
    _zero3("3: bfloat16", bf16="true", stage3_max_reuse_distance="0"),
    _zero3("3: float16", fp16="true"),
    _zero3("3: gradients travel in float32", bf16="true", communication_data_type="float32"),
    _zero3("3: reduce_scatter off", reduce_scatter="false"),
    _zero3("3: small buckets", worlds=BOTH, reduce_bucket_size="3000"),
    _zero3("3: a bucket filled exactly", reduce_bucket_size="27712"),
    _zero3("3: small buckets, reduce_scatter off", reduce_bucket_size="3000", reduce_scatter="false"),
    _zero3("3: not overlapping", stage3_max_reuse_distance="0", overlap_comm="false"),
    _zero3("3: accumulation", stage3_max_reuse_distance="0", gradient_accumulation_steps="3",
           stage3_param_persistence_threshold="4096"),
    _zero3("3: uneven model", "uneven", BOTH, stage3_max_reuse_distance="500", stage3_prefetch_bucket_size="700",
           stage3_param_persistence_threshold="100", reduce_bucket_size="1000"),
    _zero3("3: AllReduce fetches", "uneven", stage3_max_reuse_distance="0",
           stage3_use_all_reduce_for_fetch_params="true"),
    _zero3("3: fetches one by one", "uneven", stage3_max_reuse_distance="0", stage3_allgather_sequential="true"),
    _zero3("3: sub-groups", sub_group_size="20000"),
    _zero3("3: gpt", "gpt", stage3_max_reuse_distance="900", stage3_prefetch_bucket_size="300",
           stage3_param_persistence_threshold="16", reduce_bucket_size="700"),
    _zero3("3: gpt, no prefetch", "gpt", stage3_max_reuse_distance="0", stage3_prefetch_bucket_size="0",
           reduce_bucket_size="20"),
    _zero3("3: tied embeddings", "tied", stage3_max_reuse_distance="0"),
)  # fmt: skip


def _fsdp(name: str, model: str = "tiny", worlds: tuple[int, ...] = (2, 4), variant: str | None = None,
          **settings: str) -> Case:  # fmt: skip
    return Case(f"fsdp: {name}", "fsdp", {"param_dtype": "float32", **settings}, variant, model, worlds)


FSDP = (
    _fsdp("defaults"),
    _fsdp("uneven model", "uneven"),
    _fsdp("tied embeddings", "tied"),
    _fsdp("gpt", "gpt"),
    _fsdp("not resharded", reshard_after_forward="false"),
    _fsdp("resharded, the root too", reshard_after_forward="true"),
    _fsdp("resharded over two of four", worlds=(4,), reshard_after_forward="2"),
    _fsdp("bfloat16", param_dtype="bfloat16"),
    _fsdp("bfloat16, reduced in float32", param_dtype="bfloat16", reduce_dtype="float32"),
    _fsdp("reduced in float16", reduce_dtype="float16"),
    _fsdp("sums forced", force_sum_reduction_for_comms="true"),
    _fsdp("accumulation", gradient_accumulation_steps="2"),
    _fsdp("accumulation, reduced at the end", gradient_accumulation_steps="3", requires_gradient_sync="false"),
    _fsdp("gradients clipped", clip_grad_norm="true"),
    _fsdp("hsdp, gradients clipped", worlds=(4,), variant="hsdp", mesh="2", clip_grad_norm="true"),
    _fsdp("hsdp, shards of two", worlds=(4,), variant="hsdp", mesh="2"),
    _fsdp("hsdp, uneven model", "uneven", worlds=(4,), variant="hsdp", mesh="2"),
    _fsdp("hsdp, not resharded", worlds=(4,), variant="hsdp", mesh="2", reshard_after_forward="false"),
    _fsdp("hsdp, replicas only", worlds=(2,), variant="hsdp", mesh="1"),
)

PYTORCH = DDP + FSDP
