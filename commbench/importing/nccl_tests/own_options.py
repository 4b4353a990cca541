"""nccl-tests' own options, by letter, and their values as nccl-tests reads them."""

import re
from typing import NamedTuple

from commbench.collectives import operator_named
from commbench.dtypes import dtype_named
from commbench.errors import UsageError
from commbench.units import parse_size


class Own(NamedTuple):
    """An option of nccl-tests: its long name and what it is for, in its words."""

    long: str
    metavar: str
    help: str


OWN = {
    "t": Own("nthreads", "N", "threads per process (default 1)"),
    "g": Own("ngpus", "N", "GPUs per thread (default 1)"),
    "b": Own("minbytes", "SIZE", "first size (default 32M)"),
    "e": Own("maxbytes", "SIZE", "last size (default 32M)"),
    "i": Own("stepbytes", "SIZE", "bytes between sizes"),
    "f": Own("stepfactor", "N", "factor between sizes"),
    "n": Own("iters", "N", "timed iterations (default 20)"),
    "m": Own("agg-iters", "N", "calls per iteration (default 1)"),
    "w": Own("warmup-iters", "N", "warm-up iterations (default 1, 5 in older versions)"),
    "N": Own("run-cycles", "N", "repeat the sizes N times"),
    "p": Own("parallel-init", "0|1", "threads initialise NCCL in parallel"),
    "c": Own("check", "N", "check N times; 0: do not check"),
    "o": Own("op", "OP", "sum, prod, min, max, avg, mulsum, all"),
    "d": Own("datatype", "TYPE", "dtype in nccl-tests' words or ours, or all"),
    "r": Own("root", "RANK", "root, or all"),
    "z": Own("blocking", "0-3", "wait after calls, with or without a barrier"),
    "y": Own("stream-null", "0|1", "use the null stream"),
    "G": Own("cudagraph", "N", "calls in a CUDA graph, replayed N times: mode graph"),
    "C": Own("report-cputime", "0|1", "report the time on the CPU"),
    "S": Own("report-timestamps", "0|1", "a timestamp per row"),
    "a": Own("average", "0-3", "rank 0, mean, fastest, slowest rank (default here: 3)"),
    "R": Own("local-register", "0-2", "register buffers"),
    "x": Own("cta-policy", "0-2", "NCCL's CTA policy"),
    "D": Own("device-implementation", "N", "NCCL's device API"),
    "V": Own("device-cta-count", "N", "CTAs of the device API"),
    "M": Own("memory", "0|1", "report GPU memory"),
    "u": Own("unalign", "N", "misalign buffers by N elements"),
    "I": Own("per-iter-timing", "0|1", "time each iteration with CUDA events"),
    "K": Own("per-iter-skip", "N", "leave the first N out of -I's summary"),
}
_SIZES = frozenset("bei")
_WORDS = {"o": frozenset({"all", "mulsum"}), "d": frozenset({"all", "char", "int"}), "r": frozenset({"all"})}
# what nccl-tests calls the dtypes, where ours differ; an unknown name would be measured as float without an error
_DTYPES = {
    "float32": "float", "float16": "half", "float64": "double", "float8_e4m3": "f8e4m3", "float8_e5m2": "f8e5m2"
}  # fmt: skip
_SIZE = re.compile(r"[0-9]+(?:\.[0-9]+)?[KMG]?", re.IGNORECASE)
_INTEGER = re.compile(r"0x[0-9a-f]+|0|[1-9][0-9]*", re.IGNORECASE)


def own_value(letter: str, text: str) -> str:
    """A value as nccl-tests reads it; what it would misread without an error is refused."""
    if letter in _SIZES:
        size = parse_size(text)
        return text if _SIZE.fullmatch(text) else str(size)
    if text in _WORDS.get(letter, ()):
        return text
    if letter == "o":
        return operator_named(text)
    if letter == "d":
        name = dtype_named(text)
        return _DTYPES.get(name, name)
    if not _INTEGER.fullmatch(text) or (number := int(text, 0)) < 0 or number >= 1 << 31:
        raise UsageError(
            f"-{letter} cannot be read", expected="a whole number, 0 or more", found=repr(text),
            fix=f"-{letter} is nccl-tests' --{OWN[letter].long}: {OWN[letter].help}",
        )  # fmt: skip
    if letter in "tgn" and number == 0:
        raise UsageError(
            f"-{letter} leaves nothing to do", expected="1 or more", found=f"-{letter} {text}", fix=f"-{letter} 1"
        )
    return text
