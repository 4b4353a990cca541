"""One TCP stream, timed by its receiver: `tcp_stream.py receive PORT` and `tcp_stream.py send HOST PORT BYTES`.

The receiver prints the bytes and the seconds from the first byte to the last.
"""

import json
import socket
import sys
import time


def receive(port: int) -> dict[str, float]:
    with socket.create_server(("", port)) as server:
        server.settimeout(20)
        connection, _ = server.accept()
    with connection:
        total = len(connection.recv(1))
        start = time.perf_counter()
        buffer = bytearray(1 << 20)
        while got := connection.recv_into(buffer):
            total += got
        return {"bytes": total, "seconds": time.perf_counter() - start}


def send(host: str, port: int, size: int) -> None:
    deadline = time.monotonic() + 20
    while True:
        try:
            connection = socket.create_connection((host, port), timeout=5)
            break
        except ConnectionRefusedError:  # the receiver is still starting
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    with connection:
        connection.settimeout(60)
        chunk = bytes(1 << 20)
        for offset in range(0, size, len(chunk)):
            connection.sendall(chunk[: size - offset])


def main() -> None:
    if sys.argv[1] == "receive":
        print(json.dumps(receive(int(sys.argv[2]))), flush=True)
    else:
        send(sys.argv[2], int(sys.argv[3]), int(sys.argv[4]))


if __name__ == "__main__":
    main()
