"""What a user names when sweeps are asked for: files, and folders of them."""

from pathlib import Path

from commbench.errors import UsageError


def sweep_files(path: str) -> list[Path]:
    """The file, or the `*.jsonl` in a folder and in its folders, sorted.

    Raises:
        UsageError: a folder without one.
    """
    place = Path(path)
    try:
        folder = place.is_dir()
        files = sorted(place.rglob("*.jsonl")) if folder else [place]
    except (OSError, ValueError):
        return [place]  # the reader says what is wrong with it
    if not files:
        raise UsageError("a folder holds no sweep files", expected=f"files named *.jsonl in {path}", found="none",
                         fix="give the folder that -J named")  # fmt: skip
    return files
