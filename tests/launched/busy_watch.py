"""A sweep whose watch is always in the middle of a post: `torchrun … -m tests.launched.busy_watch OPTIONS`."""

import sys

from commbench.measuring import watch
from commbench.measuring.torch_world import StoreBoard
from commbench.sweep import main

POSTS = 20_000  # in place of one: a good part of a second, in which a run can end

_post = StoreBoard.post


def post(self: StoreBoard, text: bytes) -> None:
    """Replace this rank's post, again and again."""
    for _ in range(POSTS):
        _post(self, text)


if __name__ == "__main__":
    vars(watch)["HEARTBEAT"] = 0.01
    StoreBoard.post = post  # type: ignore[method-assign]
    sys.exit(main())
