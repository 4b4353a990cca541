"""A real step's collectives against a schedule's: what is missing, what is extra, what has another size.

Collectives are compared kind by kind, each in its order of issue: how kinds interleave depends on streams and threads.
"""

from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import zip_longest

from commbench.training.call import Call, Schedule
from commbench.training.profiled import Profile, TracedCall


@dataclass(frozen=True)
class Agreement:
    """Where a trace and a schedule agree and differ.

    Attributes:
        matched: calls that are the same in both.
        missing: the schedule's, that the trace lacks.
        extra: the trace's, that the schedule lacks.
        different: calls in the same place with another size or dtype.
    """

    profile: Profile
    matched: int
    missing: tuple[Call, ...]
    extra: tuple[TracedCall, ...]
    different: tuple[tuple[Call, TracedCall], ...]

    @property
    def agrees(self) -> bool:
        """Nothing is missing, extra or different."""
        return not (self.missing or self.extra or self.different)


def compare(schedule: Schedule, profile: Profile) -> Agreement:
    """Compare a schedule with a traced step."""
    matched = 0
    missing: list[Call] = []
    extra: list[TracedCall] = []
    different: list[tuple[Call, TracedCall]] = []
    kinds = [call.collective for call in schedule.calls] + [call.collective for call in profile.calls]
    for kind in dict.fromkeys(kinds):
        calls = [call for call in schedule.calls if call.collective == kind]
        traced = [call for call in profile.calls if call.collective == kind]
        sizes = [call.elements for call in calls], [call.elements for call in traced]
        for tag, a, b, c, d in SequenceMatcher(None, *sizes, autojunk=False).get_opcodes():
            if tag == "equal":
                for ours, theirs in zip(calls[a:b], traced[c:d], strict=True):
                    if theirs.dtype in (None, ours.dtype):
                        matched += 1
                    else:
                        different.append((ours, theirs))
                continue
            for one, other in zip_longest(calls[a:b], traced[c:d]):
                if one is None:
                    extra.append(other)
                elif other is None:
                    missing.append(one)
                else:
                    different.append((one, other))
    return Agreement(profile, matched, tuple(missing), tuple(extra), tuple(different))
