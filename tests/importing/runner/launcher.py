"""A launcher like mpirun: -np N starts N copies, and -x NAME=VALUE sets a variable of all of them."""

import os
import subprocess
import sys


def main() -> int:
    """Start the copies, wait, end with the worst status."""
    words = sys.argv[1:]
    if words == ["--version"]:
        print("mpirun (Open MPI) 5.0.6")
        return 0
    copies, environ, carried = 1, dict(os.environ), set()
    for name in [name for name in environ if name.startswith("NCCL_")]:
        del environ[name]  # as on another host, which has only what -x carries
    while words and words[0].startswith("-"):
        option, value, *words = words
        if option == "-np":
            copies = int(value)
        elif option == "-x":
            name, _, text = value.partition("=")
            if name in carried:
                sys.exit(f"mpirun: two values for {name}")  # as Open MPI says where they differ
            carried.add(name)
            environ[name] = text or os.environ[name]
    started = [subprocess.Popen(words, env=environ) for _ in range(copies)]
    return max(process.wait() for process in started)


if __name__ == "__main__":
    sys.exit(main())
