"""Network namespaces: made, joined by links with a rate, emptied and deleted. Touches no interface of the host.

Every name carries the process that made it and when that process started, so sessions side by side do not collide
and what a killed session left behind is known to be nobody's.
"""

import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import suppress
from itertools import count
from pathlib import Path

INTERFACE = "lan0"
_PREFIX = "commbench"
_NAME = re.compile(rf"{_PREFIX}-(\d+)-(\d+)-\d+-\w+")
_FOLDER = Path("/run/netns")
_FILES = Path("/etc/netns")  # `ip netns exec NAME` shows what lies in /etc/netns/NAME as if it lay in /etc
_serial = count()


def ip(*words: str) -> str:
    """Run `ip` with these words and return what it printed; a failure raises with what it said."""
    return _run("ip", *words)


def tc(namespace: str, *words: str) -> str:
    """Run `tc` on the interfaces of a namespace."""
    return _run("tc", "-n", namespace, *words)


def _run(*words: str) -> str:
    done = subprocess.run(words, capture_output=True, text=True, timeout=30, check=False)
    if done.returncode:
        raise RuntimeError(f"`{' '.join(words)}` exited with {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def unavailable() -> str | None:
    """Why this machine cannot emulate a cluster (by trying, about 20 ms), or None when it can."""
    if os.geteuid() != 0:
        return "an emulated cluster needs root"
    for program, package in (("ip", "iproute2"), ("tc", "iproute2"), ("unshare", "util-linux")):
        if shutil.which(program) is None:
            return f"an emulated cluster needs the program `{program}` (package {package})"
    names = new_names("a", "b")
    try:
        for name in names:
            add(name, hosts="127.0.0.1 localhost\n")
        _run(*inside(names[0], "node0", ["true"]))
        join(names[0], INTERFACE, names[1], INTERFACE)
        shape(names[0], INTERFACE, "add", rate="1gbit", burst="512kb", latency="50ms")
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        return f"an emulated cluster needs network namespaces, veth and tbf here: {error}"
    finally:
        for name in names:
            delete(name)
    return None


def new_names(*roles: str) -> list[str]:
    """Names of namespaces that belong to this process, one a role, never given twice."""
    serial = next(_serial)
    return [f"{_PREFIX}-{os.getpid()}-{_started(os.getpid())}-{serial}-{role}" for role in roles]


def add(namespace: str, hosts: str) -> None:
    """Make a namespace with its loopback up and an /etc/hosts of its own.

    The host's /etc/hosts knows neither these addresses nor these names: gloo looks its own host name up, and torch's
    store warns about every peer that has no name.
    """
    ip("netns", "add", namespace)
    ip("-n", namespace, "link", "set", "lo", "up")
    (_FILES / namespace).mkdir(parents=True)
    (_FILES / namespace / "hosts").write_text(hosts)


def inside(namespace: str, host: str, words: Sequence[str]) -> list[str]:
    """The words that run a program inside a namespace, on a host of that name; the process id stays the program's."""
    rename = f'echo {host} > /proc/sys/kernel/hostname && exec "$@"'
    return ["ip", "netns", "exec", namespace, "unshare", "--uts", "sh", "-c", rename, "sh", *words]


def join(first: str, first_interface: str, second: str, second_interface: str) -> None:
    """A cable between two namespaces. Made inside the first one, so the host's namespace never sees an end of it."""
    words = ("link", "add", first_interface, "type", "veth", "peer", "name", second_interface, "netns", second)
    ip("-n", first, *words)
    for namespace, interface in ((first, first_interface), (second, second_interface)):
        # Without a link-local address gloo has one address to choose, and nothing waits for duplicate detection.
        ip("-n", namespace, "link", "set", interface, "addrgenmode", "none", "up")


def shape(namespace: str, interface: str, action: str, *, rate: str, burst: str, latency: str) -> None:
    """Limit what leaves an interface. `action` is tc's: add or change.

    Segmentation offload stays on: tbf counts a 64 KiB super-packet with the headers of all its segments (the kernel's
    qdisc_pkt_len), so TCP gets 1448 of 1514 bytes of the rate with and without it. The burst comes on top, once: 512 kB
    make 64 MiB arrive 0.8 % early. Below 64 KiB of burst tbf has to cut super-packets itself.
    """
    tbf = ("tbf", "rate", rate, "burst", burst, "latency", latency)
    tc(namespace, "qdisc", action, "dev", interface, "root", *tbf)


def kill(namespace: str) -> None:
    """End every process inside a namespace, whatever session or process group it moved to."""
    for _ in range(100):
        pids = subprocess.run(["ip", "netns", "pids", namespace], capture_output=True, text=True, check=False).stdout
        if not pids.split():
            return
        for pid in pids.split():
            with suppress(ProcessLookupError):
                os.kill(int(pid), signal.SIGKILL)
        time.sleep(0.01)


def delete(namespace: str) -> None:
    """Kill what runs in a namespace and delete it with its interfaces; one that is gone already is fine."""
    shutil.rmtree(_FILES / namespace, ignore_errors=True)
    with suppress(OSError):
        _FILES.rmdir()  # only when it is empty
    if (_FOLDER / namespace).exists():
        kill(namespace)
        subprocess.run(["ip", "netns", "delete", namespace], capture_output=True, check=False)


def sweep() -> list[str]:
    """Delete the namespaces of sessions that died without doing so; return their names."""
    found = [(entry.name, _NAME.fullmatch(entry.name)) for entry in (_FOLDER.iterdir() if _FOLDER.exists() else ())]
    dead = [name for name, match in found if match and _started(int(match[1])) != match[2]]
    for name in dead:
        delete(name)
    return dead


def _started(pid: int) -> str | None:
    """When a process started, in clock ticks since boot (a process id alone is given again), None when it is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
