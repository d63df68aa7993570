# SPDX-License-Identifier: Apache-2.0
"""How long a stage may take."""
import time


class Overrun(Exception):
    pass


def rounds_that_fit(count, deadline):
    """0, 1, ...: up to `count`, as long as another may end in time going by the longest so far."""
    longest = 0
    for index in range(count):
        began = time.monotonic()
        if index and began + 1.1 * longest > deadline.end:
            return
        yield index
        longest = max(longest, time.monotonic() - began)


class Deadline:
    def __init__(self, seconds):
        self.seconds = seconds
        self.end = time.monotonic() + seconds

    def left(self):
        """Seconds, never none: raises Overrun instead."""
        left = self.end - time.monotonic()
        if left <= 0:
            raise Overrun(f"cut: it took longer than its {self.seconds:.0f} s")
        return left
