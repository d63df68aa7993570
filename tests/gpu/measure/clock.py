# SPDX-License-Identifier: Apache-2.0
"""How long a stage may take."""
import time


class Overrun(Exception):
    pass


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
