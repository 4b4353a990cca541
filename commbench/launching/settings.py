"""Interconnect settings: which variables make ranks talk over which path, and what their library's log must then show.

A variable is a wish. A setting says what it wishes for, what it needs of the variables that are inherited, and which
paths prove that it took. Sources: NCCL's src/graph/paths.cc and topo.cc (P2P_DISABLE is P2P_LEVEL=LOC: no GPU reads
another's memory, over NVLink or PCIe; NET_DISABLE_INTRA keeps traffic of one host away from its NICs), src/init.cc
(WIN_ENABLE: windows use CUDA's peer access whatever P2P says), NVIDIA/nccl issue 777 (with NVLink present CUDA picks
it, so there is no PCIe peer-to-peer beside it); Open MPI 5's btl framework (pml ob1 is the one that uses it).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from commbench.errors import UsageError

Library = Literal["nccl", "openmpi"]

_P2P_ON = {"NCCL_P2P_DISABLE": ("0",)}
_ALL_LEVELS = ("NVL", "PIX", "PXB", "PHB", "SYS", "1", "2", "3", "4", "5")
_NO_NVLINK_AT_ALL = {"NCCL_P2P_DISABLE": "1", "NCCL_NVLS_ENABLE": "0", "NCCL_WIN_ENABLE": "0"}
MULTICAST_OFF = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "NVSHMEM_DISABLE_NVLS": "1"}
"""Variables with which the owner of a host keeps NVLink multicast off. They are never cleared nor contradicted."""


@dataclass(frozen=True)
class Setting:
    """One interconnect setting.

    Attributes:
        name: what files, tables and figures call it.
        variables: what every rank must have.
        meaning: in words.
        needs: variables that may be inherited, with the values that do no harm; not set is always fine.
        library: whose log proves the path, None where the setting names no path.
        paths: kinds of path that ranks of one host must then have, all of them; empty where none is known beforehand.
        also: kinds that must be proved beside them (NVLS).
        nvlink: NVLink must be present (True), must not be (False), or does not matter (None).
    """

    name: str
    variables: Mapping[str, str] = field(default_factory=dict)
    meaning: str = ""
    needs: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    library: Library | None = None
    paths: frozenset[str] = frozenset()
    also: frozenset[str] = frozenset()
    nvlink: bool | None = None


_NCCL = (
    Setting(
        "nvlink", {"NCCL_NVLS_ENABLE": "0"}, "GPUs reach each other over NVLink, without multicast",
        needs={**_P2P_ON, "NCCL_P2P_LEVEL": _ALL_LEVELS}, library="nccl", paths=frozenset({"P2P"}), nvlink=True,
    ),
    Setting(
        "nvls", {"NCCL_NVLS_ENABLE": "1"}, "NVLink with multicast in the switch (NVLink SHARP)",
        needs={**_P2P_ON, "NCCL_P2P_LEVEL": _ALL_LEVELS, "TORCH_SYMM_MEM_DISABLE_MULTICAST": ("0",),
               "NVSHMEM_DISABLE_NVLS": ("0",)},
        library="nccl", paths=frozenset({"P2P"}), also=frozenset({"NVLS"}), nvlink=True,
    ),
    Setting(
        "pcie-p2p", {"NCCL_NVLS_ENABLE": "0"}, "GPUs reach each other over PCIe, where there is no NVLink",
        needs={**_P2P_ON, "NCCL_P2P_LEVEL": _ALL_LEVELS[1:]}, library="nccl", paths=frozenset({"P2P"}), nvlink=False,
    ),
    Setting(
        "host", {**_NO_NVLINK_AT_ALL, "NCCL_NET_DISABLE_INTRA": "1"},
        "through host memory: no GPU reads another's, and NICs stay out of the node",
        needs={"NCCL_SHM_DISABLE": ("0",)}, library="nccl", paths=frozenset({"SHM"}),
    ),
    Setting(
        "network", {**_NO_NVLINK_AT_ALL, "NCCL_SHM_DISABLE": "1"}, "through the network, also inside a node",
        needs={"NCCL_NET_DISABLE_INTRA": ("0",)}, library="nccl", paths=frozenset({"NET"}),
    ),
)  # fmt: skip
_MPI = (
    Setting(
        "sm", {"OMPI_MCA_btl": "self,sm", "OMPI_MCA_pml": "ob1"}, "through shared memory",
        library="openmpi", paths=frozenset({"sm"}),
    ),
    Setting(
        "tcp", {"OMPI_MCA_btl": "self,tcp", "OMPI_MCA_pml": "ob1"}, "through TCP, also inside a node",
        library="openmpi", paths=frozenset({"tcp"}),
    ),
)  # fmt: skip
SETTINGS: dict[str, Setting] = {setting.name: setting for setting in (*_NCCL, *_MPI)}


def parse_settings(texts: Sequence[str]) -> tuple[Setting, ...]:
    """Read `nvlink,host` or `fast:GLOO_SOCKET_IFNAME=lan0,slow:GLOO_SOCKET_IFNAME=lan1`.

    A `VAR=VALUE` belongs to the `name:` before it. Quotes keep a comma: `mine:OMPI_MCA_btl='self,sm'`.

    Raises:
        UsageError: for an unknown name, a variable without a name, the same name twice, or fewer than two settings.
    """
    settings: dict[str, Setting] = {}
    for word in (word for text in texts for word in _words(text)):
        name, colon, rest = word.partition(":")
        if colon and "=" not in name:
            settings = _with(settings, _own(name, rest))
        elif "=" in word and settings:
            last = settings.popitem()[1]
            if last.name in SETTINGS:
                raise _unreadable(f"{word!r} after {last.name}, whose variables are fixed")
            settings[last.name] = _own(last.name, word, last.variables)
        elif word in SETTINGS:
            settings = _with(settings, SETTINGS[word])
        else:
            raise _unreadable(repr(word))
    if len(settings) < 2:
        raise _unreadable(f"{len(settings)} setting{'s'[len(settings) == 1 :]} ({', '.join(settings) or 'none'})")
    return tuple(settings.values())


def environment_for(setting: Setting, inherited: Mapping[str, str]) -> dict[str, str]:
    """The variables that ranks need beyond what they inherit. An empty variable counts as not set.

    Args:
        inherited: the environment, and what the launch line itself sets.

    Raises:
        UsageError: an inherited variable contradicts the setting; both values are named.
    """
    for name, wanted in setting.variables.items():
        found = inherited.get(name, "")
        if found and found.strip() != wanted:
            raise _conflict(setting, name, wanted, found)
    for name, harmless in setting.needs.items():
        found = inherited.get(name, "")
        if found and found.strip().upper() not in harmless:
            raise _conflict(setting, name, f"not set, or {' or '.join(harmless)}", found)
    if setting.variables.get("NCCL_NVLS_ENABLE", "0") != "0":
        for name, off in MULTICAST_OFF.items():
            if inherited.get(name, "").strip() == off:
                raise _conflict(setting, name, "not set", off)
    return dict(setting.variables)


def set_by_line(words: Sequence[str]) -> dict[str, str]:
    """Variables that a launch line sets for its ranks: -x, --mca, -genv, --export."""
    found: dict[str, str] = {}
    for place, word in enumerate(words):
        after = [*words[place + 1 : place + 3], "", ""]
        if word in ("-x", "--x") and "=" in after[0]:
            name, _, value = after[0].partition("=")
            found[name] = value
        elif word in ("--mca", "-mca", "--gmca", "-gmca") and after[0]:
            found[f"OMPI_MCA_{after[0]}"] = after[1]
        elif word in ("-genv", "-env") and after[0]:
            found[after[0]] = after[1]
        elif word.startswith("--export"):
            listed = word.partition("=")[2] or after[0]
            found |= {name: value for name, equals, value in (e.partition("=") for e in listed.split(",")) if equals}
    return found


def _with(settings: dict[str, Setting], setting: Setting) -> dict[str, Setting]:
    if setting.name in settings:
        raise _unreadable(f"{setting.name} twice")
    return {**settings, setting.name: setting}


def _own(name: str, text: str, already: Mapping[str, str] | None = None) -> Setting:
    variable, equals, value = text.partition("=")
    if not (name and name.replace("-", "").replace("_", "").replace(".", "").isalnum() and name.isascii()):
        raise _unreadable(f"the name {name!r}")
    if name in SETTINGS:
        raise _unreadable(f"{name}: with variables; that name has a meaning of its own")
    if text and not (equals and variable.isidentifier() and variable.isascii()):
        raise _unreadable(f"{text!r} in {name}")
    variables = {**(already or {}), **({variable: value} if text else {})}
    words = ", ".join(f"{key}={setting}" for key, setting in variables.items())
    return Setting(name, variables, words or "nothing beyond what is inherited")


def _words(text: str) -> list[str]:
    """Cut at commas outside quotes, and take the quotes away."""
    words, quote, current = [], "", ""
    for character in text:
        if quote:
            current, quote = (current, "") if character == quote else (current + character, quote)
        elif character in "'\"":
            quote = character
        elif character == ",":
            words.append(current)
            current = ""
        else:
            current += character
    if quote:
        raise _unreadable(f"{text!r}, with an open quote")
    return [word.strip() for word in (*words, current) if word.strip()]


def _unreadable(found: str) -> UsageError:
    return UsageError(
        "the settings cannot be read",
        expected=f"two or more of {', '.join(SETTINGS)}, or name:VARIABLE=VALUE,...",
        found=found,
        fix="write for example --settings nvlink,host, or --settings sm,tcp, or "
        "--settings fast:GLOO_SOCKET_IFNAME=eth0,slow:GLOO_SOCKET_IFNAME=eth1",
    )


def _conflict(setting: Setting, name: str, wanted: str, found: str) -> UsageError:
    off = MULTICAST_OFF.get(name) == found.strip()
    return UsageError(
        f"the setting {setting.name} contradicts a variable that is set already",
        expected=f"{name}={wanted}" if not wanted.startswith("not set") else f"{name} {wanted}",
        found=f"{name}={found}" + (" (it keeps NVLink multicast off on this host)" if off else ""),
        fix=f"leave {setting.name} away; the variable belongs to whoever runs this host"
        if off
        else f"`unset {name}` if it is yours to unset, or leave {setting.name} away",
    )
