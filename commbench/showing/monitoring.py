"""An acceptance for monitoring: one Nagios line, or a file for Prometheus' node exporter."""

from datetime import UTC, datetime

from commbench.errors import CommbenchError
from commbench.judging.judged import Acceptance, Outcome
from commbench.showing.acceptance import verdict_line
from commbench.showing.heading import clean

NAGIOS_CODES: dict[Outcome, int] = {"pass": 0, "inconclusive": 1, "fail": 2, "not_verified": 3}
"""Nagios' OK, WARNING, CRITICAL, UNKNOWN."""

NAGIOS_UNKNOWN = 3

_NAGIOS_WORDS = {0: "OK", 1: "WARNING", 2: "CRITICAL", 3: "UNKNOWN"}
_OUTCOMES: tuple[Outcome, ...] = ("pass", "fail", "inconclusive", "not_verified")
_PERFORMANCE = 20  # values after the bar; more would be cut by what reads them
_UNITS = {"B/s": ("bytes_per_second", ""), "s": ("seconds", "s"), "B": ("bytes", "B"), "1": ("ratio", "")}


def nagios_line(result: Acceptance) -> str:
    """`COMMBENCH CRITICAL - FAIL: ...; the worst check | 'check'=value`, one line."""
    words = f"COMMBENCH {_NAGIOS_WORDS[NAGIOS_CODES[result.verdict]]} - {verdict_line(result)}"
    if result.checks and result.verdict != "pass":
        worst = result.checks[0]
        words += f"; {worst.name}: {worst.reason}"
    values = [
        f"'{check.name.replace(chr(39), '').replace('=', '')}'={_plain(check.measured)}{_UNITS[check.unit][1]}"
        for check in result.checks
        if check.measured is not None and check.unit is not None
    ][:_PERFORMANCE]
    line = clean(words).replace("|", "/").replace("\n", " ")
    return f"{line} | {' '.join(clean(value).replace('|', '/') for value in values)}\n" if values else f"{line}\n"


def nagios_error(error: CommbenchError) -> str:
    """`COMMBENCH UNKNOWN - ...` for what kept us from judging, one line."""
    words = clean(f"COMMBENCH {_NAGIOS_WORDS[NAGIOS_UNKNOWN]} - {error.wrong}: {error.found}")
    return " ".join(words.replace("|", "/").split()) + "\n"


def _plain(value: float) -> str:
    """Six digits without an exponent, which Nagios' performance data do not know."""
    text = f"{value:.6g}"
    return text if "e" not in text else f"{float(text):.15f}".rstrip("0").rstrip(".")


def prometheus_text(result: Acceptance, finished_at: str | None) -> str:
    """Metrics of the text format 0.0.4: verdict, counts, and each measured value with its bound.

    Args:
        finished_at: when the sweeps were finished, as their end records say; None where they do not.
    """
    limits = _label(result.limits)
    lines = [
        "# HELP commbench_accept_verdict 1 for the verdict, 0 for the others.",
        "# TYPE commbench_accept_verdict gauge",
    ]
    lines += [
        f'commbench_accept_verdict{{limits="{limits}",verdict="{one}"}} {int(one == result.verdict)}'
        for one in _OUTCOMES
    ]
    lines += ["# HELP commbench_accept_checks Checks by outcome.", "# TYPE commbench_accept_checks gauge"]
    lines += [f'commbench_accept_checks{{limits="{limits}",outcome="{one}"}} {result.count(one)}' for one in _OUTCOMES]
    for unit, (name, _) in _UNITS.items():
        some = [check for check in result.checks if check.unit == unit and check.measured is not None]
        for kind in ("measured", "limit") if some else ():
            metric = f"commbench_accept_{kind}_{name}"
            lines += [
                f"# HELP {metric} What a check {'measured' if kind == 'measured' else 'is held against'}.",
                f"# TYPE {metric} gauge",
            ]
            values = [(check.name, check.measured if kind == "measured" else check.bound) for check in some]
            lines += [f'{metric}{{limits="{limits}",check="{_label(check)}"}} {value!r}' for check, value in values]
    seconds = _seconds(finished_at)
    if seconds is not None:
        lines += ["# HELP commbench_accept_measured_at_seconds When the sweeps were finished (Unix time).",
                  "# TYPE commbench_accept_measured_at_seconds gauge",
                  f'commbench_accept_measured_at_seconds{{limits="{limits}"}} {seconds!r}']  # fmt: skip
    return "\n".join(lines) + "\n"


def _label(text: str) -> str:
    return clean(text).replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _seconds(moment: str | None) -> float | None:
    try:
        when = datetime.fromisoformat(moment or "")
    except ValueError:
        return None
    return (when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp()
