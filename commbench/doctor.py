"""`commbench doctor`: everything that can be checked about a machine and a launch without measuring anything."""

import argparse
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from commbench.arguments import Parser
from commbench.launching.findings import Finding, has_problem
from commbench.launching.rendezvous import check_own_name, check_rendezvous
from commbench.launching.starters import check_starters
from commbench.launching.surroundings import (
    check_disk,
    check_identity,
    check_memory,
    check_nccl_variables,
    check_shared_memory,
    check_versions,
)


def main(argv: Sequence[str] | None = None) -> int:
    """Print the findings; 0 where nothing stops a launch, 2 where something does."""
    options = _parser().parse_args(argv)
    devices, no_devices = _devices()
    findings = [*examine(options, os.environ), *_device_findings(devices, no_devices)]
    problem = has_problem(findings)
    if options.json:
        document = {
            "verdict": "problem" if problem else "ok",
            "findings": [asdict(finding) for finding in findings],
            "devices": devices,
        }
        text = json.dumps(document, indent=1, allow_nan=False, default=str)
    else:
        text = _report(findings)
    print(text)  # noqa: T201
    return 2 if problem else 0


def examine(options: argparse.Namespace, environ: Mapping[str, str]) -> list[Finding]:
    """Every check that needs no device, in the order of the report."""
    from commbench.measuring.facts import allowed_variables, available_memory_bytes

    findings = [
        *check_versions(),
        check_identity(environ),
        *check_starters(environ, options.ranks, wanted=options.launcher),
        check_nccl_tests(environ),
    ]
    if options.rendezvous is None:
        findings.append(check_own_name(options.nodes, environ))
    else:
        findings += check_rendezvous(options.rendezvous, options.nodes, environ=environ)
    return [
        *findings,
        # The allow-list keeps out whatever looks like a secret.
        *check_nccl_variables(allowed_variables(environ)),
        check_shared_memory(),
        check_memory(available_memory_bytes()),
        check_disk(Path.cwd()),
    ]


def check_nccl_tests(environ: Mapping[str, str]) -> Finding:
    """The programs that `commbench nccl-tests` would start; nothing else needs them."""
    from commbench.importing.nccl_tests.binaries import HOME, found_folders

    folders = found_folders(environ)
    found = "; ".join(f"{folder}: {', '.join(collectives)}" for folder, collectives in folders.items())
    return Finding("ok", "nccl-tests", found or f"not found in {HOME}, on PATH or in the usual places")


def _parser() -> Parser:
    parser = Parser(
        "commbench doctor",
        "Check launchers, names, ports, libraries and devices; nothing is measured and nothing is started.",
        "exit codes: 0 nothing stops a launch, 2 something does",
    )
    parser.add_argument("--rendezvous", metavar="HOST:PORT", help="check torchrun's --rdzv-endpoint from this machine")
    parser.add_argument("--nodes", type=_positive, default=1, metavar="N", help="nodes that take part (default: 1)")
    parser.add_argument("--ranks", type=_positive, metavar="N", help="ranks wanted on this host")
    parser.add_argument(
        "--launcher",
        choices=("any", "torchrun", "mpirun"),
        default="any",
        help="the launcher that must work; with any (the default) one of them is enough",
    )
    parser.add_argument("--json", action="store_true", help="print one JSON document instead of the report")
    return parser


def _positive(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"expected a whole number, 1 or more, found {text!r}")
    return int(text)


def _devices() -> tuple[tuple[dict[str, Any], ...], str | None]:
    """The GPUs' states, or why there are none to see. NVML is only loaded here."""
    from commbench.measuring.device_state import device_state_unavailable, device_states

    states = device_states()
    return states, None if states else device_state_unavailable() or "no GPU was found"


def _device_findings(devices: Sequence[Mapping[str, Any]], unavailable: str | None) -> list[Finding]:
    if unavailable is not None:
        return [Finding("ok", "GPUs", unavailable)]
    findings = []
    for place, device in enumerate(devices):
        name = f"GPU {device.get('device', place)}"
        findings.append(Finding("ok", name, ", ".join(_facts(device))))
        findings += [Finding("warning", name, found, fix) for found, fix in _doubts(device)]
    return findings


def _doubts(device: Mapping[str, Any]) -> list[tuple[str, str]]:
    """What makes a device slower than its like, and what to do about it."""
    doubts = []
    # `gpu_idle` is what a device at rest should say.
    reasons = [reason for reason in device.get("throttle_reasons") or () if reason != "gpu_idle"]
    if reasons:
        doubts.append((f"clocks are held down: {' '.join(reasons)}", "look at `nvidia-smi -q -d PERFORMANCE,POWER`"))
    if device.get("ecc_uncorrected"):
        found = f"{device['ecc_uncorrected']} uncorrected ECC errors since the driver was loaded"
        doubts.append((found, "look at `nvidia-smi -q -d ECC,ROW_REMAPPER`, and do not trust results from it"))
    nvlink = device.get("nvlink") or {}
    if nvlink.get("links_active", 0) < nvlink.get("links", 0):
        found = f"{nvlink['links_active']} of {nvlink['links']} NVLinks are active"
        doubts.append((found, "look at `nvidia-smi nvlink --status`; some systems wire only a part of the links"))
    if device.get("other_processes"):
        found = f"{device['other_processes']} processes compute on it"
        doubts.append((found, "measure when it is free: `nvidia-smi` names them"))
    return doubts


def _facts(device: Mapping[str, Any], prefix: str = "") -> list[str]:
    """A device's state in words; what the driver does not tell is left out."""
    facts = []
    for name, value in device.items():
        if isinstance(value, Mapping):
            facts += _facts(value, f"{prefix}{name} ")
        elif value is not None and value not in ((), []):
            shown = " ".join(map(str, value)) if isinstance(value, list | tuple) else value
            facts.append(f"{prefix}{name} {shown}".replace("_", " "))
    return facts


def _report(findings: Sequence[Finding]) -> str:
    width = max(len(finding.check) for finding in findings)
    lines = []
    for finding in findings:
        lines.append(f"{finding.level:8} {finding.check:{width}}  {finding.found}")
        if finding.fix is not None:
            lines.append(f"{'':8} {'':{width}}  to do: {finding.fix}")
    problems = sum(finding.level == "problem" for finding in findings)
    warnings = sum(finding.level == "warning" for finding in findings)
    counted = f"{problems} problem{'s' * (problems != 1)}, {warnings} warning{'s' * (warnings != 1)}"
    return "\n".join([*lines, "", f"{counted}. Nothing was measured."])
