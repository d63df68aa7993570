# SPDX-License-Identifier: Apache-2.0
"""A peer as a process: what it says line by line, under a deadline."""
import json
import queue
import threading

from clock import Overrun


class PeerFailed(Exception):
    pass


class Peer:
    """Used as a context: the process is gone behind it."""

    def __init__(self, place, script, *arguments):
        self.name = " ".join([script, *map(str, arguments[:2])])
        self.log = place.scratch / f"{script}.log"
        self.process = place.start_peer(script, *arguments)
        self.lines = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            if line.startswith("{"):
                self.lines.put(json.loads(line))
        self.lines.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self.process.kill()
        self.process.wait()

    def answer(self, deadline):
        try:
            line = self.lines.get(timeout=deadline.left())
        except queue.Empty:
            raise Overrun(f"cut: {self.name} did not answer in time") from None
        if line is None:
            raise PeerFailed(f"{self.name} ended: {self.log.read_text(errors='replace')[-1500:]}")
        return line

    def ask(self, deadline):
        """One more round."""
        self.process.stdin.write("round\n")
        self.process.stdin.flush()
        return self.answer(deadline)
