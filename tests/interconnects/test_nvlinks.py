"""NVLinks read from `nvidia-smi topo -m`."""

import pytest

from commbench.interconnects.nvlinks import in_matrix

HEAD = "\tGPU0\tGPU1\tCPU Affinity\tNUMA Affinity\tGPU NUMA ID\n"


@pytest.mark.parametrize(
    ("rows", "links"),
    [
        ("GPU0\t X \tNV18\t0-31\t0\t\tN/A\nGPU1\tNV18\t X \t0-31\t0\t\tN/A\n", 18),
        ("GPU0\t X \tPHB\t0-31\t0\t\tN/A\nGPU1\tPHB\t X \t0-31\t0\t\tN/A\n", 0),
        ("\x1b[4mGPU0\x1b[0m\t X \tNV4\nGPU1\tNV4\t X \nGPU2\tSYS\tSYS\n", 0),
    ],
)
def test_the_gpu_with_fewest_counts(rows: str, links: int) -> None:
    """Two real layouts, and a third card beside a bridged pair."""
    assert in_matrix(HEAD + rows) == links


def test_another_text_says_nothing() -> None:
    """The legend's `NV#` is no link."""
    assert in_matrix("NVIDIA-SMI has failed\n  NV#  = Connection traversing a bonded set of # NVLinks\n") is None
