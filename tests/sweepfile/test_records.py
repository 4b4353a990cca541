"""Records: what a measurement cannot be, and that JSON keeps every field."""

import math

import msgspec
import pytest

from commbench.sweepfile.records import Measurement, Record

from .building import end, header, left_out, measurement


@pytest.mark.parametrize("record", [header(), measurement(), left_out(), end()], ids=lambda r: type(r).__name__)
def test_a_record_survives_the_file(record: Record) -> None:
    """Encoded and decoded, a record equals itself, to the last bit of its times."""
    assert msgspec.json.decode(msgspec.json.encode(record), type=Record) == record


def test_times_keep_every_bit() -> None:
    """A float is written with as many digits as it takes to read the same float."""
    seconds = (0.1 + 0.2, math.pi * 1e-6, 5e-324)
    line = msgspec.json.encode(measurement(seconds=seconds))
    assert msgspec.json.decode(line, type=Measurement).seconds == seconds


def test_a_measurement_holds_at_least_one_sample() -> None:
    """No samples is a point left out, not a measurement."""
    with pytest.raises(ValueError, match="`seconds` is empty"):
        measurement(seconds=(), fastest_seconds=())


def test_fastest_and_slowest_times_are_of_the_same_samples() -> None:
    """Their numbers agree, sample by sample."""
    with pytest.raises(ValueError, match="differ in length"):
        measurement(seconds=(1.0, 2.0), fastest_seconds=(1.0,))


def test_a_correct_measurement_has_no_wrong_elements() -> None:
    """`correct` true with `wrong` above 0 contradicts itself."""
    with pytest.raises(ValueError, match="`correct` is true"):
        measurement(correct=True, wrong=1)


def test_not_checked_is_neither_true_nor_false() -> None:
    """Null stays None through the file."""
    line = msgspec.json.encode(measurement(correct=None, wrong=None))
    assert msgspec.json.decode(line, type=Measurement).correct is None


def test_records_are_frozen() -> None:
    """A record that was read cannot be changed."""
    with pytest.raises(AttributeError):
        measurement().cycle = 3  # type: ignore[misc]
