"""Interconnect settings: what they set, what they refuse, and how they are written."""

import pytest

from commbench.errors import UsageError
from commbench.launching.settings import SETTINGS, environment_for, parse_settings, set_by_line


def test_names_are_read() -> None:
    assert [setting.name for setting in parse_settings(["nvlink,host"])] == ["nvlink", "host"]


def test_an_own_setting_has_its_variables() -> None:
    fast, slow = parse_settings(["fast:A=1,B=2,slow:C=3"])
    assert (dict(fast.variables), dict(slow.variables)) == ({"A": "1", "B": "2"}, {"C": "3"})


def test_quotes_keep_a_comma() -> None:
    first, _ = parse_settings(["mine:OMPI_MCA_btl='self,sm',tcp"])
    assert first.variables == {"OMPI_MCA_btl": "self,sm"}


def test_a_setting_may_change_nothing() -> None:
    assert parse_settings(["as-is:,host"])[0].variables == {}


@pytest.mark.parametrize(
    "text",
    ["", "nvlink", "nvlink,nvlink", "fast", "A=1,host", "nvlink,A=1", "host:A=1,tcp", "a:1=2,host", "a:B='x,host",
     "\N{SNOWMAN}:A=1,host", ":A=1,host", "a:B,host"],
)  # fmt: skip
def test_what_cannot_be_read_is_refused(text: str) -> None:
    with pytest.raises(UsageError, match="the settings cannot be read"):
        parse_settings([text])


def test_host_keeps_every_other_path_shut() -> None:
    """P2P off, no NIC inside the node, no multicast, no windows that would use peer access."""
    assert environment_for(SETTINGS["host"], {}) == {
        "NCCL_P2P_DISABLE": "1",
        "NCCL_NVLS_ENABLE": "0",
        "NCCL_WIN_ENABLE": "0",
        "NCCL_NET_DISABLE_INTRA": "1",
    }


def test_network_shuts_shared_memory_too() -> None:
    assert environment_for(SETTINGS["network"], {})["NCCL_SHM_DISABLE"] == "1"


@pytest.mark.parametrize("name", ["nvlink", "host", "network", "pcie-p2p"])
def test_no_setting_but_nvls_switches_multicast_on(name: str) -> None:
    assert environment_for(SETTINGS[name], {})["NCCL_NVLS_ENABLE"] == "0"


@pytest.mark.parametrize(
    ("variable", "value"),
    [("NCCL_NVLS_ENABLE", "0"), ("TORCH_SYMM_MEM_DISABLE_MULTICAST", "1"), ("NVSHMEM_DISABLE_NVLS", "1")],
)
def test_nvls_is_refused_where_the_host_says_no(variable: str, value: str) -> None:
    with pytest.raises(UsageError, match=f"{variable}={value}"):
        environment_for(SETTINGS["nvls"], {variable: value})


def test_an_own_setting_may_not_switch_multicast_on_either() -> None:
    own, _ = parse_settings(["mine:NCCL_NVLS_ENABLE=1,host"])
    with pytest.raises(UsageError, match="NVSHMEM_DISABLE_NVLS=1"):
        environment_for(own, {"NVSHMEM_DISABLE_NVLS": "1"})


@pytest.mark.parametrize(
    ("setting", "inherited", "both"),
    [
        ("nvlink", {"NCCL_P2P_DISABLE": "1"}, ("NCCL_P2P_DISABLE not set, or 0", "NCCL_P2P_DISABLE=1")),
        ("nvlink", {"NCCL_P2P_LEVEL": "LOC"}, ("NCCL_P2P_LEVEL not set", "NCCL_P2P_LEVEL=LOC")),
        ("nvlink", {"NCCL_NVLS_ENABLE": "1"}, ("NCCL_NVLS_ENABLE=0", "NCCL_NVLS_ENABLE=1")),
        ("host", {"NCCL_P2P_DISABLE": "0"}, ("NCCL_P2P_DISABLE=1", "NCCL_P2P_DISABLE=0")),
        ("host", {"NCCL_SHM_DISABLE": "1"}, ("NCCL_SHM_DISABLE not set, or 0", "NCCL_SHM_DISABLE=1")),
        ("sm", {"OMPI_MCA_btl": "self,tcp"}, ("OMPI_MCA_btl=self,sm", "OMPI_MCA_btl=self,tcp")),
    ],
)
def test_a_conflict_names_both_values(setting: str, inherited: dict[str, str], both: tuple[str, str]) -> None:
    with pytest.raises(UsageError) as caught:
        environment_for(SETTINGS[setting], inherited)
    assert [value in str(caught.value) for value in both] == [True, True]


@pytest.mark.parametrize("inherited", [{"NCCL_NVLS_ENABLE": "0"}, {"NCCL_P2P_DISABLE": ""}, {"NCCL_P2P_LEVEL": "nvl"}])
def test_what_agrees_is_inherited(inherited: dict[str, str]) -> None:
    environment_for(SETTINGS["nvlink"], inherited)


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("mpirun -x NCCL_P2P_DISABLE=1 -n 2", {"NCCL_P2P_DISABLE": "1"}),
        ("mpirun --mca btl self,tcp -n 2", {"OMPI_MCA_btl": "self,tcp"}),
        ("mpiexec -genv A 1 -n 2", {"A": "1"}),
        ("srun --export=ALL,A=1 -n 2", {"A": "1"}),
        ("mpirun -x", {}),
    ],
)
def test_what_the_launch_line_sets_counts_as_inherited(line: str, found: dict[str, str]) -> None:
    assert set_by_line(line.split()) == found
