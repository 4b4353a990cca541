"""ubx_bench prints several libraries side by side; each is a run of its own."""

import json

from commbench.importing.foreign import Run
from commbench.importing.other_tools import ubx_bench
from tests.importing.logs import reading

TEXT = """\
# ubx_bench all_reduce  (8 GPUs, backend=ubx,nccl)
#       size         count      type   redop     time   algbw   busbw     time   algbw   busbw  #wrong
#        (B)    (elements)                        (us)  (GB/s)  (GB/s)     (us)  (GB/s)  (GB/s)
#                                              ubx                      nccl
     1048576        262144     float     sum    20.00   52.43   91.75    40.00   26.21   45.87       0
     2097152        524288     float     sum      N/A     N/A     N/A    60.00   34.95   61.17       2
# Avg bus bandwidth    : ubx=91.75 nccl=53.52
"""


def facts(run: Run) -> tuple[object, ...]:
    """Backend, ranks, average, and what each row says."""
    rows = [(row.message_bytes, row.seconds, row.placement, row.wrong) for row in run.rows]
    return run.backend, run.collective, run.world_size, rows


EXPECTED = [
    ("ubx", "all_reduce", 8, [(1048576, 2e-5, None, 0)]),
    ("nccl", "all_reduce", 8, [(1048576, 4e-5, None, 0), (2097152, 6e-5, None, 2)]),
]


def test_each_backend_of_the_text_is_a_run() -> None:
    """A missing value is left out; the averages belong to their backends."""
    found = reading(ubx_bench, TEXT)
    assert [facts(run) for run in found.runs] == EXPECTED
    assert [run.footer["average_is_of_these_rows"] for run in found.runs] == [True, True]
    assert [skipped.line for skipped in found.runs[0].left_out] == [6]
    assert not found.rejects


def test_each_backend_of_the_json_is_a_run() -> None:
    """The same rows from -J."""

    def entry(size: int, us: float | None, errors: int) -> dict[str, object]:
        algbw = size / us / 1e3 if us else None
        return {"size_bytes": size, "count": size // 4, "dtype": "float", "redop": "sum", "time_us": us,
                "algbw_gbs": algbw, "busbw_gbs": algbw and algbw * 1.75, "errors": errors}  # fmt: skip

    results = {"ubx": [entry(1048576, 20.0, 0), entry(2097152, None, 2)],
               "nccl": [entry(1048576, 40.0, 0), entry(2097152, 60.0, 2)]}  # fmt: skip
    whole = {"collective": "all_reduce", "nranks": 8, "backends": ["ubx", "nccl"], "results": results}
    found = reading(ubx_bench, json.dumps(whole, indent=1))
    assert [facts(run) for run in found.runs] == EXPECTED


def test_a_row_of_another_width_is_rejected() -> None:
    """Three figures a backend and one count, or none."""
    found = reading(ubx_bench, TEXT.replace("   26.21", ""))
    assert found.rejects[0].line == 5
    assert [row.line for run in found.runs for row in run.rows] == [6]
