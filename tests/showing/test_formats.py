"""The formats for programs: strict JSON, CSV with units in its column names, Markdown."""

import csv
import io
import json
from typing import Any, NoReturn

from commbench.showing.document import to_csv, to_json
from commbench.showing.formats import to_markdown
from commbench.sweepfile.records import LeftOut

from .sweeps import MIB, point, sweep


def refuse(constant: str) -> NoReturn:
    raise AssertionError(f"{constant} is not strict JSON")


def document(*points: Any, **header: Any) -> dict[str, Any]:
    (found,) = json.loads(to_json([sweep(*points, **header)]), parse_constant=refuse)["sweeps"]
    assert isinstance(found, dict)
    return found


def test_json_holds_header_points_and_judgement() -> None:
    expected = {"header", "measurements", "left_out", "status", "warnings"}
    assert expected <= document(point()).keys()


def test_a_json_measurement_keeps_its_samples() -> None:
    assert document(point(seconds=(1e-4, 3e-4)))["measurements"][0]["seconds"] == [1e-4, 3e-4]


def test_a_json_measurement_has_its_derived_numbers() -> None:
    assert document(point(MIB, 1e-4))["measurements"][0]["derived"]["busbw_bytes_per_second"] == MIB / 1e-4 * 1.75


def test_json_has_no_nan_for_numbers_that_do_not_exist() -> None:
    nothing = document(point(0, (0.0,), collective=None, dtype=None), world_size=None)
    assert nothing["measurements"][0]["derived"]["busbw_bytes_per_second"] is None


def test_json_has_no_nan_for_rates_beyond_a_float() -> None:
    assert document(point(MIB, (5e-324,)))["measurements"][0]["derived"]["algbw_bytes_per_second"] is None


def test_a_json_warning_has_its_three_parts() -> None:
    (warning,) = document(point(correct=None, wrong=None))["warnings"]
    assert warning.keys() == {"kind", "seen", "why", "helps"}


def test_not_checked_is_null_in_json() -> None:
    assert document(point(correct=None, wrong=None))["measurements"][0]["correct"] is None


def lines(*points: Any) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(to_csv([sweep(*points, label="nv,link")]))))


def test_csv_has_a_line_a_measurement() -> None:
    assert len(lines(point(), point())) == 2


def test_csv_columns_of_dimension_carry_their_unit() -> None:
    expected = {"message_bytes", "median_seconds", "gap_seconds", "algbw_bytes_per_second", "busbw_bytes_per_second"}
    assert expected <= lines(point())[0].keys()


def test_csv_gives_numbers_back_exactly() -> None:
    assert float(lines(point(seconds=(0.1 + 0.2,)))[0]["median_seconds"]) == 0.1 + 0.2


def test_csv_leaves_empty_what_is_not_known() -> None:
    assert lines(point(seconds=(1e-4,)))[0]["half_width_share"] == ""


def test_csv_quotes_what_holds_a_comma() -> None:
    assert lines(point())[0]["label"] == "nv,link"


def test_markdown_is_a_table_with_as_many_cells_in_each_line() -> None:
    table = [line for line in to_markdown([sweep(point(), point(2 * MIB))]).splitlines() if line.startswith("|")]
    assert {line.count("|") for line in table} == {table[0].count("|")}


def test_markdown_columns_carry_their_unit() -> None:
    assert "| time (us) |" in to_markdown([sweep(point())])


def test_markdown_escapes_what_would_be_a_cell() -> None:
    missing = LeftOut(sweep="s", collective="all_reduce", message_bytes=MIB, reason="a|b")
    assert "a\\|b" in to_markdown([sweep(point(), left_out=[missing])])
