"""The Dockerfile, read as text: there is no engine here to build it, but much can be said without one."""

import re
import shlex
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
INSTRUCTIONS = {
    *("ADD", "ARG", "CMD", "COPY", "ENTRYPOINT", "ENV", "EXPOSE", "FROM", "HEALTHCHECK", "LABEL", "MAINTAINER"),
    *("ONBUILD", "RUN", "SHELL", "STOPSIGNAL", "USER", "VOLUME", "WORKDIR"),
}


def instructions() -> list[tuple[str, str]]:
    """(instruction, the rest) in order; comments are gone and continued lines joined."""
    lines = [line for line in (ROOT / "Dockerfile").read_text().splitlines() if not line.lstrip().startswith("#")]
    joined = re.sub(r"\\\n", " ", "\n".join(lines))
    pairs = [line.strip().partition(" ") for line in joined.splitlines() if line.strip()]
    return [(word, rest.strip()) for word, _, rest in pairs]


def of(kind: str) -> list[str]:
    """The rest of every instruction of a kind."""
    return [rest for word, rest in instructions() if word == kind]


def test_every_line_is_an_instruction() -> None:
    """A line that was not continued would begin with something else."""
    assert {word for word, _ in instructions()} <= INSTRUCTIONS
    assert all(rest for _, rest in instructions())


def test_the_base_is_a_build_argument_with_an_example() -> None:
    """Clusters have images of their own."""
    first, second, *_ = instructions()
    assert first[0] == "ARG"
    assert re.fullmatch(r"BASE=\S+:\S*cuda\S*", first[1])
    assert second == ("FROM", "${BASE}")


def test_nothing_is_fetched_but_by_pip() -> None:
    """nccl-tests come from the base or a mount; no file of ours clones or downloads."""
    text = " ".join(rest for _, rest in instructions())
    assert not re.search(r"\bgit\b|\bcurl\b|\bwget\b|https?://", text)
    assert not of("ADD")


def test_copied_paths_exist_and_are_not_ignored() -> None:
    """COPY fails on what .dockerignore hides."""
    ignored = {
        line.removesuffix("/")
        for line in (ROOT / ".dockerignore").read_text().splitlines()
        if line and not line.startswith("#")
    }
    for rest in of("COPY"):
        *sources, _ = [word for word in shlex.split(rest) if not word.startswith("--")]
        for source in sources:
            assert (ROOT / source).exists(), source
            assert source not in ignored


def test_it_ends_as_an_unprivileged_user() -> None:
    """A measurement needs no root."""
    last = of("USER")[-1]
    assert last not in ("root", "0")
    assert f"useradd --create-home {last}" in " ".join(of("RUN"))


def test_the_command_is_what_the_user_writes() -> None:
    """torchrun or mpirun after the image's name; the base's own entry point would run first."""
    assert of("ENTRYPOINT") == ["[]"]
    assert of("CMD") == ['["bash"]']


def test_the_checkout_is_on_the_path_of_python() -> None:
    """Programs of the checkout that are not in the wheel are found too."""
    assert "PYTHONPATH=/opt/commbench" in " ".join(of("ENV"))


def test_labels_say_what_it_is() -> None:
    """The OCI names, and the version of this checkout."""
    labels = " ".join(of("LABEL"))
    for name in ("title", "description", "licenses", "version", "revision"):
        assert f"org.opencontainers.image.{name}=" in labels
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert f"VERSION={version}" in of("ARG")


@pytest.mark.parametrize("script", of("RUN"), ids=lambda script: script[:24])
def test_run_lines_are_shell(script: str) -> None:
    """`sh -n` reads without running."""
    done = subprocess.run(["sh", "-n", "-c", script], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
