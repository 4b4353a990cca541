"""The path of each pair of ranks, read from real NCCL logs of two H200."""

from pathlib import Path

import pytest

from commbench.measuring.nccl_log import Link, NcclLog, links

DATA = Path(__file__).parent.parent / "data"


@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("nccl-info-nvlink-h200x2.log", "P2P/direct pointer"),
        ("nccl-info-host-h200x2.log", "SHM/direct/direct"),
        ("nccl-info-network-h200.log", "NET/Socket/0"),
    ],
)
def test_a_real_log_names_one_path_for_both_directions(name: str, path: str) -> None:
    """All channels of a pair take the same path, through launcher prefixes too."""
    assert links((DATA / name).read_text()) == (Link(0, 1, path), Link(1, 0, path))


def test_the_kind_is_the_first_word_of_the_path() -> None:
    """P2P, SHM or NET, whatever follows."""
    assert Link(0, 1, "NET/Socket/0").kind == "NET"


def test_a_log_without_connections_proves_nothing() -> None:
    """Lines about plugins and versions are no links."""
    assert links("node-0:1440:1440 [0] NCCL INFO NCCL version 2.28.9+cuda13.0\n") == ()


def test_multicast_that_is_set_up_is_a_link() -> None:
    log = "h:1:2 [1] NCCL INFO NVLS comm 0x55c4d3fd8fd0 headRank 6 nHeads 8 nvlsRanks 8 buffSize 1048576\n"
    assert links(log) == (Link(6, 6, "NVLS"),)


def test_multicast_that_is_only_available_is_none() -> None:
    assert links("h:1:2 [0] NCCL INFO NVLS multicast support is available on dev 0 (NVLS_NCHANNELS 24)\n") == ()


def test_a_quiet_nccl_is_told_to_log_into_a_file_of_ours() -> None:
    """NCCL_DEBUG=WARN is raised to INFO, into a file that `remove` deletes."""
    environ = {"NCCL_DEBUG": "WARN"}
    log = NcclLog(environ)
    assert environ["NCCL_DEBUG"] == "INFO"
    assert log.new_links() == ()
    log.remove()
    assert not Path(environ["NCCL_DEBUG_FILE"]).exists()


def test_a_user_s_own_log_is_left_where_it_is() -> None:
    """Somebody who reads NCCL's INFO on the screen keeps it; then nothing is proved."""
    environ = {"NCCL_DEBUG": "INFO"}
    assert NcclLog(environ).new_links() is None
    assert environ == {"NCCL_DEBUG": "INFO"}


def test_only_new_lines_are_read(tmp_path: Path) -> None:
    """A second communicator's links are told apart from the first one's."""
    file = tmp_path / "log"
    file.write_text("x [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via SHM/direct/direct\n")
    log = NcclLog({"NCCL_DEBUG_FILE": str(file)})
    assert log.new_links() == (Link(0, 1, "SHM/direct/direct"),)
    with file.open("a") as more:
        more.write("x [0] NCCL INFO Channel 00 : 1[1] -> 0[0] via SHM/direct/direct\n")
    assert log.new_links() == (Link(1, 0, "SHM/direct/direct"),)
