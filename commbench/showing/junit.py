"""An acceptance as JUnit XML. What did not pass is a failure or an error there, never a skip: a skip looks green."""

from xml.etree.ElementTree import Element, SubElement, tostring

from commbench.judging.judged import Acceptance
from commbench.showing.acceptance import WORDS
from commbench.showing.heading import clean


def to_junit(result: Acceptance) -> bytes:
    """One test suite with a case a check: `fail` is a failure; `inconclusive` and `not verified` are errors."""
    undecided = result.count("inconclusive") + result.count("not_verified")
    counts = {"tests": len(result.checks), "failures": result.count("fail"), "errors": undecided, "skipped": 0}
    suites = Element("testsuites")
    suite = SubElement(
        suites, "testsuite", {"name": _text(result.limits), **{name: str(n) for name, n in counts.items()}, "time": "0"}
    )
    for check in result.checks:
        case = SubElement(suite, "testcase", {"classname": "commbench.accept", "name": _text(check.name), "time": "0"})
        if check.outcome == "pass":
            SubElement(case, "system-out").text = _text(f"{check.reason}; limit: {check.limit}")
            continue
        tag = "failure" if check.outcome == "fail" else "error"
        found = SubElement(case, tag, {"type": check.outcome, "message": _text(check.reason)})
        because = f" ({check.because})" if check.because else ""
        found.text = _text(f"{WORDS[check.outcome]}: {check.reason}; limit: {check.limit}{because}")
    return f'<?xml version="1.0" encoding="utf-8"?>\n{tostring(suites, encoding="unicode")}\n'.encode()


def _text(text: str) -> str:
    """Without what XML 1.0 cannot hold."""
    return "".join(
        c for c in clean(text) if c in "\t\n" or " " <= c < "\ud800" or "\ue000" <= c < "\ufffe" or c > "\uffff"
    )
