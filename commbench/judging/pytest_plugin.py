"""pytest collects `*.limits.toml`: one test a check, for `pytest site.limits.toml --sweep run.jsonl`.

Inconclusive and not verified are outcomes of their own and never passed. Without such a file the plugin does nothing:
it imports nothing of commbench's, and adds `--sweep` only where the command line names it (another plugin may have an
option of that name).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator
    from pathlib import Path

    from commbench.judging.judged import Check

_SUFFIX = ".limits.toml"
_WORDS = {"inconclusive": ("inconclusive", "?", "INCONCLUSIVE"), "not_verified": ("not verified", "N", "NOT VERIFIED")}


def pytest_addoption(parser: pytest.Parser, pluginmanager: pytest.PytestPluginManager) -> None:
    """`--commbench-sweep FILE`, and `--sweep FILE` where it is asked for and free."""
    names = ["--commbench-sweep"]
    config = pluginmanager.get_plugin("pytestconfig")
    words = [str(word) for word in config.invocation_params.args] if config is not None else []
    taken = any("--sweep" in option.names() for group in parser._groups for option in group.options)
    if any(word == "--sweep" or word.startswith("--sweep=") for word in words) and not taken:
        names.append("--sweep")
    parser.getgroup("commbench", "commbench: limits of a cluster").addoption(
        *names, action="append", default=[], metavar="FILE", dest="commbench_sweep",
        help=f"sweeps (a file or a folder) that *{_SUFFIX} files are held against; may be repeated (--sweep for short)",
    )  # fmt: skip


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """A limits file."""
    if file_path.name.endswith(_SUFFIX):
        return LimitsFile.from_parent(parent, path=file_path)
    return None


class LimitsFile(pytest.File):
    """A limits file as tests."""

    def collect(self) -> Iterator[pytest.Item]:
        """One item a check, in the order of the file's limits."""
        from commbench.errors import CommbenchError
        from commbench.judging.acceptance import accept
        from commbench.judging.given_files import sweep_files
        from commbench.judging.limits import read_limits
        from commbench.sweepfile.reader import read_sweeps

        files = self.config.getoption("commbench_sweep")
        try:
            limits = read_limits(self.path)
            if not files:
                yield CheckItem.from_parent(self, name="sweep", check=_nothing_measured())
                return
            sweeps = [sweep for path in files for file in sweep_files(path) for sweep in read_sweeps(file)]
            baseline = [sweep for file in limits.baseline for sweep in read_sweeps(file)]
            checks = accept(limits, sweeps, baseline).checks
        except CommbenchError as error:
            raise self.CollectError(str(error)) from None
        for check in sorted(checks, key=lambda one: one.name):
            yield CheckItem.from_parent(self, name=check.name, check=check)


class CheckItem(pytest.Item):
    """One check."""

    def __init__(self, *, check: Check, **others: Any) -> None:
        super().__init__(**others)
        self.check = check

    def runtest(self) -> None:
        """Passes only where the check did."""
        for name in ("measured", "bound", "unit", "reason"):
            self.user_properties.append((name, getattr(self.check, name)))
        if self.check.outcome != "pass":
            raise NotPassed(self.check)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The reason, without a traceback."""
        if not isinstance(excinfo.value, NotPassed):
            return super().repr_failure(excinfo, style)
        check = excinfo.value.check
        because = f" ({check.because})" if check.because else ""
        return f"{check.outcome.replace('_', ' ')}: {check.reason}\nlimit: {check.limit}{because}"

    def reportinfo(self) -> tuple[Path, None, str]:
        """The limits file and the check's name."""
        return self.path, None, self.name


class NotPassed(Exception):  # noqa: N818  # an outcome, not an error
    """A check that did not pass."""

    def __init__(self, check: Check) -> None:
        super().__init__(f"{check.outcome}: {check.reason}")
        self.check = check


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[Any]) -> Generator[None, Any, None]:
    """Mark what is neither passed nor failed."""
    outcome = yield
    if isinstance(item, CheckItem) and call.excinfo is not None and isinstance(call.excinfo.value, NotPassed):
        outcome.get_result().commbench_outcome = item.check.outcome


def pytest_report_teststatus(report: Any) -> tuple[str, str, str] | None:
    """Their own words and letters in pytest's output."""
    if report.when != "call":
        return None
    return _WORDS.get(getattr(report, "commbench_outcome", ""))


def pytest_terminal_summary(terminalreporter: Any) -> None:
    """The reason of each check that nobody could decide, as pytest lists those of failures."""
    for kind, _, word in _WORDS.values():
        reports: Iterable[Any] = terminalreporter.stats.get(kind, ())
        if reports:
            terminalreporter.section(word.lower(), sep="_")
        for report in reports:
            terminalreporter.write_line(f"{report.nodeid}")
            terminalreporter.write_line(f"    {report.longreprtext}".replace("\n", "\n    "))


def _nothing_measured() -> Check:
    from commbench.judging.judged import Check

    return Check(name="sweep", limit="a sweep", outcome="not_verified", reason="no sweep was given (--sweep FILE)")
