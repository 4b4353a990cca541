"""Model shapes: published sizes, real modules, configs of Hugging Face, and models of which only a size is known."""

import json
from pathlib import Path
from typing import Any

import pytest

from commbench.errors import UsageError
from commbench.training.architectures import MODELS, Gpt, Llama, named
from commbench.training.shapes import model_named, model_of_size
from tests.training.frameworks.cases import MODELS as SMALL

PUBLISHED = {
    "llama2-7b": 6_738_415_616,
    "llama2-13b": 13_015_864_320,
    "llama2-70b": 68_976_648_192,
    "llama3-8b": 8_030_261_248,
    "llama3-70b": 70_553_706_496,
    "llama3-405b": 405_853_388_800,
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_llama_has_the_parameters_that_its_checkpoint_has(name: str) -> None:
    """The counts that model cards give."""
    assert named(name).elements == PUBLISHED[name]


def test_gpt3_has_its_175_billion_parameters() -> None:
    """The paper says 175.0 B; its table's lengths give 174.6 B."""
    assert round(named("gpt3-175b").elements / 1e9, 1) == 174.6


@pytest.mark.parametrize("text", ["Llama-2-7B", "LLAMA2_7B", "meta-llama2-7b", "llama-2-7b-hf"])
def test_names_are_found_however_they_are_spelled(text: str) -> None:
    """Case, dashes and what hubs add do not matter."""
    assert named(text).name == "llama2-7b"


@pytest.mark.parametrize("text", ["Llama-3.1-8B", "meta-llama3.1_8b"])
def test_llama_31_has_the_shapes_of_llama_3(text: str) -> None:
    """The number of parameters did not change."""
    assert named(text).name == "llama3-8b"


@pytest.mark.parametrize("name", SMALL)
def test_a_real_module_registers_the_same_parameters_in_the_same_order(name: str) -> None:
    """torch's own named_parameters() of a module of that shape."""
    torch = pytest.importorskip("torch")
    from tests.training.frameworks.modules import module_of

    with torch.device("meta"):
        module = module_of(SMALL[name])
    registered = [(name, tuple(parameter.shape)) for name, parameter in module.named_parameters()]
    assert registered == [(each.name, each.shape) for each in SMALL[name].shapes("", "").parameters]


@pytest.mark.parametrize("name", MODELS)
def test_every_parameter_is_used_and_its_gradient_is_finished_once(name: str) -> None:
    """Whatever the architecture."""
    model = named(name)
    assert sorted(model.gradient_order, key=str) == sorted(model.parameters, key=str)


def test_a_tied_embedding_is_finished_last() -> None:
    """Its gradient needs both uses, and the lookup comes last in backward."""
    assert SMALL["tied"].shapes("", "").gradient_order[-1].name == "model.embed_tokens.weight"


def test_work_grows_to_one_and_lookups_cost_nothing() -> None:
    """Shares of a forward pass."""
    work = named("tiny").work_before
    assert work[0] == work[1] == 0.0
    assert work[-1] == 1.0
    assert list(work) == sorted(work)


LLAMA_CONFIG: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 11008, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 32, "vocab_size": 32000, "tie_word_embeddings": False,
}  # fmt: skip


def read(folder: Path, **changes: Any) -> Any:
    """The model of LLAMA_CONFIG with changes; a change to None takes the key away."""
    config = {key: value for key, value in {**LLAMA_CONFIG, **changes}.items() if value is not None}
    file = folder / "config.json"
    file.write_text(json.dumps(config))
    return model_named(str(file))


def test_a_config_gives_the_named_model(tmp_path: Path) -> None:
    """Llama 2's own config."""
    assert read(tmp_path).parameters == named("llama2-7b").parameters


def test_a_folder_with_a_config_is_a_model(tmp_path: Path) -> None:
    """As hubs lay it out."""
    read(tmp_path)
    assert model_named(f"{tmp_path}/").elements == PUBLISHED["llama2-7b"]


def test_kv_heads_are_heads_where_a_config_does_not_say(tmp_path: Path) -> None:
    """Llama 1's configs have no such key."""
    assert read(tmp_path, num_key_value_heads=None).elements == PUBLISHED["llama2-7b"]


def test_qwen2_has_biases_that_no_key_mentions(tmp_path: Path) -> None:
    """Qwen2-7B: 7 615 616 512 parameters."""
    model = read(
        tmp_path, model_type="qwen2", hidden_size=3584, intermediate_size=18944, num_hidden_layers=28,
        num_attention_heads=28, num_key_value_heads=4, vocab_size=152064,
    )  # fmt: skip
    assert model.elements == 7_615_616_512


def test_qwen3_has_norms_of_queries_and_keys(tmp_path: Path) -> None:
    """Qwen3-0.6B: 596 049 920 parameters, tied, heads longer than hidden / heads."""
    model = read(
        tmp_path, model_type="qwen3", hidden_size=1024, intermediate_size=3072, num_hidden_layers=28,
        num_attention_heads=16, num_key_value_heads=8, vocab_size=151936, head_dim=128, tie_word_embeddings=True,
    )  # fmt: skip
    assert model.elements == 596_049_920


def test_gpt2_is_read_by_its_own_keys(tmp_path: Path) -> None:
    """GPT-2: 124 439 808 parameters."""
    file = tmp_path / "config.json"
    file.write_text(
        json.dumps({"model_type": "gpt2", "n_embd": 768, "n_layer": 12, "vocab_size": 50257, "n_positions": 1024})
    )
    assert model_named(str(file)).elements == 124_439_808


def test_an_unknown_family_with_these_keys_is_read_and_says_so(tmp_path: Path) -> None:
    """The assumption travels with the shapes."""
    assert "Llama's parameters" in read(tmp_path, model_type="newest").assumptions[0]


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"hidden_size": None}, "hidden_size"),
        ({"hidden_size": "4096"}, "hidden_size"),
        ({"hidden_size": True}, "hidden_size"),
        ({"hidden_size": -1}, "hidden_size"),
        ({"hidden_size": 4097}, "heads"),
        ({"num_key_value_heads": 5}, "kv heads"),
        ({"vocab_size": 10**30}, "vocab_size"),
        ({"num_local_experts": 8}, "experts"),
        ({"text_config": {"hidden_size": 1}}, "several parts"),
        ({"tie_word_embeddings": "no"}, "tie_word_embeddings"),
    ],
)
def test_a_config_that_does_not_give_a_dense_decoder_is_refused(
    tmp_path: Path, changes: dict[str, Any], said: str
) -> None:
    """With the key that is at fault."""
    with pytest.raises(UsageError, match=said):
        read(tmp_path, **changes)


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"\xff\xfe", b"null", b"[" * 100_000])
def test_a_file_that_is_no_config_is_refused(tmp_path: Path, content: bytes) -> None:
    """Whatever is in it."""
    file = tmp_path / "config.json"
    file.write_bytes(content)
    with pytest.raises(UsageError, match="no model can be read"):
        model_named(str(file))


@pytest.mark.parametrize("name", ["missing/config.json", "./", "\0.json", "x" * 5000 + ".json"])
def test_a_path_without_a_config_is_refused(name: str) -> None:
    """No traceback for a wrong path."""
    with pytest.raises(UsageError, match="no model can be read"):
        model_named(name)


@pytest.mark.parametrize(("text", "layers"), [("7e9", 32), ("70B", 80), ("6738415616", 32), ("125M", 12), ("5M", 2)])
def test_a_model_of_a_size_has_exactly_that_size(text: str, layers: int) -> None:
    """Down to the last parameter, in so many blocks."""
    model = model_of_size(text, layers)
    factor = {"B": 10**9, "M": 10**6}.get(text[-1], 1)
    assert model.elements == int(float(text.rstrip("BM")) * factor)
    assert len(model.blocks) == layers


@pytest.mark.parametrize(
    ("text", "layers"), [("7e9", None), ("7e9", 0), ("1000", 32), ("x", 2), ("0.5", 2), ("1e99", 2)]
)
def test_a_size_that_no_model_has_is_refused(text: str, layers: int | None) -> None:
    """Too small, no layers, not a number."""
    with pytest.raises(UsageError):
        model_of_size(text, layers)


def test_other_lengths_of_a_head_change_the_attention_only() -> None:
    """Gemma's and Qwen3's heads are longer than hidden / heads."""
    usual, longer = (Llama(64, 176, 2, 4, 2, 256, head_dim=length).shapes("", "") for length in (16, 32))
    assert longer.elements - usual.elements == 2 * (2 * 64 * 64 + 2 * 32 * 64)


def test_a_gpt_may_have_an_output_projection_of_its_own() -> None:
    """Not tied: one more matrix, used last."""
    tied, own = (Gpt(8, 32, 1, 10, 4, tied=tied).shapes("", "") for tied in (True, False))
    assert own.elements - tied.elements == 80
    assert (tied.used[-1], own.used[-1]) == ("transformer.wte", "lm_head")
