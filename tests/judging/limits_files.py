"""Limits as text, for tests that change one line of them."""

from commbench.judging.acceptance import accept
from commbench.judging.judged import Acceptance, Check
from commbench.judging.limits import parse_limits
from commbench.sweepfile.reader import Sweep

CLUSTER = """
format = 1
name = "two ranks"
[cluster]
world_size = 2
ranks_per_host = 2
device = "CPU"
path = "sm"
mode = "isolated"
"""

TIME = """
[[limit]]
collective = "all_reduce"
quantity = "time"
size = "2M"
at_most = "{bound}"
reason = "a test"
"""


def limits_text(bound: str = "3 ms", cluster: str = CLUSTER, limit: str = TIME, **replaced: str) -> str:
    """A limits file with one limit: 2 MiB in at most 3 ms, where `synthetic.law` takes 2.1 ms."""
    text = cluster + limit.replace("{bound}", bound)
    for old, new in replaced.items():
        lines = [line for line in text.splitlines() if not line.startswith(f"{old} =")]
        text = "\n".join(lines) + "\n"
        if new:
            before, mark, after = text.partition("[cluster]\n")
            text = before + mark + f"{old} = {new}\n" + after
    return text


def judged(text: str, *sweeps: Sweep) -> Acceptance:
    """The sweeps by the limits of a text."""
    return accept(parse_limits(text.encode()), sweeps)


def check(result: Acceptance, beginning: str) -> Check:
    """The one check whose name begins so."""
    (found,) = [one for one in result.checks if one.name.startswith(beginning)]
    return found
