"""A sweep whose rank 0 starts after the others: `torchrun … -m tests.launched.late_start OPTIONS`."""

import os
import sys
import time

from commbench.sweep import main

if __name__ == "__main__":
    if os.environ["RANK"] == "0":
        time.sleep(1.5)  # torchrun looks for failed ranks ten times a second
    sys.exit(main())
