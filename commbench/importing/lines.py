"""A log as lines without the wrapping that launchers, terminals and log shippers put around them.

Prefixes tell which rank wrote a line, so they are kept as the line's stream and never glued back together.
"""

import re
from collections.abc import Iterator, Sequence
from typing import overload

import msgspec

from commbench.importing.every_line import numbers_of_lines, tags_of_a_kind, tags_of_writers, untagged
from commbench.importing.foreign import Line

_COLOUR = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]{0,500}(?:\x07|\x1b\\)|[()][A-Za-z0-9]|[=>78cDEHM])")
_ROW_OR_COMMENT = r"(?=\s*(?:#|\d+\s+\d+\s))"
_LOGGED = (
    r"(?:\s*std(?:out|err) [FP] )?(?:\s?(?:[-|]\s)?(?:[\w.]{1,60} - )?\[?(?:INFO|DEBUG|WARNING|ERROR)\]?(?:\s-)?[: ]"
    r"(?:\s*\| [\w.:<>]{1,120} - )?)?(?!\s*$)"
    r"(?:\d\d[OE][ +])?"  # the number of the stream in the jobs' logs of GitLab
)
_OPEN_MPI = r"\[([^\[\]<>]{1,120})\](?:\[[^\[\]<>]{1,120}\])?"  # the rank, and the process with tag-detailed
# (pattern, group that names the writer or None for what tells nothing about it); tried again until none fits
_PREFIXES = tuple(
    (re.compile(pattern), group)
    for pattern, group in (
        # Open MPI and PRRTE with a tag, with or without a time before it
        (rf"(?:\w{{3}} \w{{3}} [ \d]\d \d\d:\d\d:\d\d \d{{4}}\s?)?{_OPEN_MPI}<std(?:out|err|diag)>:", 1),
        # MPICH and Intel MPI with -prepend-rank
        (r"\[(\d{1,7})\](?=\s|#|$)", 1),
        # srun --label
        (r" {0,7}(\d{1,7}):(?= |#|$)", 1),
        # torchrun: [default0]:, [rank0]:, node1:0:
        (r"\[([A-Za-z_]+\d{1,7})\]:", 1),
        (r"([A-Za-z][\w.-]{0,80}:\d{1,6}):(?=\s|#|$)", 1),
        # Ray and launchers that look like it: (head, rank=0, pid=3808)
        (r"\(([^()]{0,120}\bpid=\d+[^()]{0,80})\)\s", 1),
        # kubectl --prefix, docker compose
        (r"\[(pod/[^\s\]]{1,200})\]\s", 1),
        (r"([\w./-]{1,80}[-_]\d{1,5}) +\| ", 1),
        # times of log shippers, with the tag of a container runtime or the level of a logger
        (
            rf"\[?\d{{4}}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?\]?[:,]?\s{_LOGGED}",
            None,
        ),
        (r"\[?\d\d:\d\d:\d\d(?:[.,]\d{1,9})?\]?:?\s(?!\s*$)", None),
        (r"[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ([\w.-]{1,80}) [\w./-]{1,80}(?:\[\d+\])?: ", 1),
        # quoted in a mail or an issue
        (r"(?:> ?)+(?=\s*(?:#|\d))", None),
        # forks of nccl-tests tag their lines: [STAT]:134217728
        (r"\[[A-Z][A-Z_]{1,20}\]:", None),
        # loggers of Python, absl and glog
        (r"(?:DEBUG|INFO|WARNING|ERROR):[\w.]{0,60}:", None),
        (r"[IWEF]\d{4} \d\d:\d\d:\d\d\.\d{1,9} +\d{1,9} [\w./-]{1,80}:\d{1,6}\] ?", None),
        # ts, and times since 1970
        (rf"[A-Z][a-z]{{2}} [ \d]\d \d\d:\d\d:\d\d(?:\.\d{{1,9}})? {_ROW_OR_COMMENT}", None),
        (rf"\d{{10}}\.\d{{1,9}} {_ROW_OR_COMMENT}", None),
        # hydra's proxies, aprun and ibrun, and a host with a rank behind it
        (r"\[(proxy:\d{1,6}:\d{1,6}@[\w.-]{1,80})\] ", 1),
        (rf"([A-Za-z][\w.-]{{0,80}}\[\d{{1,7}}\]):{_ROW_OR_COMMENT}", 1),
        (rf"([A-Za-z][\w.-]{{0,80}} \d{{1,7}}): {_ROW_OR_COMMENT}", 1),
        # pdsh and clush, and a host name in brackets: only before what is surely a table
        (rf"([A-Za-z][\w.-]{{0,80}}):{_ROW_OR_COMMENT}", 1),
        (rf"\[([A-Za-z][\w.@-]{{0,80}})\]:?{_ROW_OR_COMMENT}", 1),
        (rf"(\d{{1,3}}(?:\.\d{{1,3}}){{3}}(?::\d{{1,6}})?):{_ROW_OR_COMMENT}", 1),
        # stern: pod and container
        (rf"([a-z0-9][a-z0-9.]{{0,60}}-[a-z0-9.-]{{1,80}} [a-z0-9][a-z0-9-]{{0,60}}) {_ROW_OR_COMMENT}", 1),
    )
)
_TAGGED = re.compile(rf"([A-Za-z][\w.@-]{{0,80}})\t{_ROW_OR_COMMENT}")  # parallel --tag
_QUOTED = re.compile(rf'\s*("{_ROW_OR_COMMENT}.*"),?', re.DOTALL)  # a line of a list in JSON, as ansible prints it
_MANY = 8  # wrappers around one line; more is an attack, not a launcher
_STARTS = frozenset("[( \t") | frozenset("0123456789")
_ENVELOPE_TEXT = ("log", "message", "msg", "textPayload", "line", "body", "MESSAGE")
_ENVELOPE_WRITER = ("pod", "pod_name", "container", "container_name", "host", "hostname", "rank", "instance")


def normalised(raw: str) -> tuple[str, str]:
    """The stream and the text of one raw line; a line with nothing around it comes back as it is."""
    text = raw.rstrip("\r\n\x00 \t")
    if text.startswith("{"):
        text, writer = _unwrapped(text)
    else:
        writer = ""
    if "\x1b" in text:
        text = _COLOUR.sub("", text)
    if "\t" in text and (tagged := _TAGGED.match(text)):
        writer, text = tagged[1], text[tagged.end() :]
    if "\b" in text or "\t" in text:
        text = text.replace("\b", "").replace("\t", " ")
    text = text.removeprefix("\ufeff")
    if _is_bare(text):
        return writer, text
    if '"' in text and (quoted := _QUOTED.fullmatch(text)):
        return writer, _string(quoted[1])
    streams = [writer] if writer else []
    for _ in range(_MANY):
        behind = text.lstrip() if text[0] == " " else text  # behind the wrapper before, or indented as a whole
        for pattern, group in _PREFIXES:
            match = pattern.match(text)
            if match is None and behind is not text:
                match = pattern.match(behind)
            if match and match.end():
                if group is not None and match[group]:
                    streams.append(match[group].strip())
                text = match.string[match.end() :]
                break
        else:
            break
        if _is_bare(text):
            break
    return " ".join(streams), text


def _is_bare(text: str) -> bool:
    """A comment, a row, or nothing: wrappers before a digit have a colon, or are a time since 1970."""
    start = text.lstrip()
    return not start or text[0] == "#" or (":" not in text and start[10:11] != "." and start[0].isdigit())


def _string(quoted: str) -> str:
    """A string of JSON; as it stands where it is none."""
    try:
        return msgspec.json.decode(quoted, type=str)
    except (msgspec.MsgspecError, UnicodeError):
        return quoted


def _unwrapped(text: str) -> tuple[str, str]:
    """The message of a log shipper's JSON envelope and who wrote it; anything else as it is."""
    try:
        envelope = msgspec.json.decode(text)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return text, ""
    if not isinstance(envelope, dict):
        return text, ""
    for key in _ENVELOPE_TEXT:
        message = envelope.get(key)
        if isinstance(message, str):
            writers = [str(envelope[name]) for name in _ENVELOPE_WRITER if isinstance(envelope.get(name), str | int)]
            return message.rstrip("\r\n"), " ".join(writers)
    return text, ""


class Lines(Sequence[Line]):
    """The lines of a whole log, made when they are asked for: a log of 100 MB is held once, as bytes.

    A lone carriage return ends a line too (a progress bar is overwritten, a row after it is not lost); the pieces
    share the number of their line unless the file has no other line ends.
    """

    def __init__(self, content: bytes) -> None:
        text = decoded(content)
        self._raw = text.split("\n") if "\n" in text or "\r" not in text else text.split("\r")
        if self._raw and not self._raw[-1]:
            self._raw.pop()
        if number := numbers_of_lines(self._raw):
            self._raw = [number.sub("", raw) for raw in self._raw]
        self._tags = tags_of_writers(self._raw) or tags_of_a_kind(self._raw, lambda raw: normalised(raw)[1])

    @property
    def text(self) -> str:
        """The whole log as it stands, for formats that are one document."""
        return "\n".join(self._raw)

    def __len__(self) -> int:
        return len(self._raw)

    @overload
    def __getitem__(self, index: int) -> Line: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Line]: ...
    def __getitem__(self, index: int | slice) -> Line | Sequence[Line]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        stream, text = self._normalised(self._raw[index])
        return Line((index if index >= 0 else len(self) + index) + 1, text, stream)

    def __iter__(self) -> Iterator[Line]:
        read = normalised if self._tags is None else self._normalised
        for number, raw in enumerate(self._raw, 1):
            for piece in raw.split("\r") if "\r" in raw[:-1] else (raw,):
                stream, text = read(piece)
                yield Line(number, text, stream)

    def _normalised(self, raw: str) -> tuple[str, str]:
        if self._tags is None:
            return normalised(raw)
        writer, rest = untagged(raw, self._tags)
        stream, text = normalised(rest)
        return f"{writer} {stream}".strip(), text


def is_utf16(content: bytes) -> bool:
    """Whether bytes are UTF-16 by their mark, or by the zero in every second byte of plain text without one."""
    head = content[:400]
    return content.startswith((b"\xff\xfe", b"\xfe\xff")) or (
        len(head) > 20 and 0 not in head[::2] and not any(head[1::2])
    )


def decoded(content: bytes) -> str:
    """The text of a log: UTF-8, or UTF-16 (shells of Windows write it); broken bytes marked."""
    if is_utf16(content):
        marked = content.startswith((b"\xff\xfe", b"\xfe\xff"))
        return content.decode("utf-16" if marked else "utf-16-le", errors="replace").removeprefix("\ufeff")
    return content.replace(b"\x00", b"").decode("utf-8", errors="replace").removeprefix("\ufeff")
