# SPDX-License-Identifier: Apache-2.0
"""A peer under torchrun that is started once and then makes its steps whenever it is asked to, so
that starting and compiling are not measured and both sides can take turns."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading

import measure

TURN_S = 400  # at most, for the first, which compiles, on a slow machine


def environment():
    """One thread a rank, and compiled kernels kept from one bench to the next."""
    cache = os.environ.get("XDG_CACHE_HOME", os.path.expanduser("~/.cache"))
    return {**measure.peer_environment(), "OMP_NUM_THREADS": "1",
            "TORCHINDUCTOR_CACHE_DIR": f"{cache}/ringmaster/inductor"}


class Peer:
    """`links`: by rank the words before its command. Ranks with equal links share a launcher."""

    def __init__(self, script, order, ranks, links, address, port):
        self.ranks = ranks
        self.folder = tempfile.TemporaryDirectory()
        self.log = tempfile.TemporaryFile("w+")
        order = json.dumps({**order, "bells": self.folder.name})
        self.bells = [self._bell(rank) for rank in range(ranks)]
        nodes = [links[0]] if all(link == links[0] for link in links) else links
        launcher = [sys.executable, "-m", "torch.distributed.run", f"--nnodes={len(nodes)}",
                    f"--nproc_per_node={ranks // len(nodes)}", f"--master_addr={address}",
                    f"--master_port={port}"]
        self.processes = [
            subprocess.Popen(
                [*link, *launcher, f"--node_rank={node}", measure.PEERS / script, order],
                env=environment(), text=True, stdout=subprocess.PIPE, stderr=self.log,
            )
            for node, link in enumerate(nodes)
        ]

    def _bell(self, rank):
        """A pipe to one rank; open for reading too, so that nobody waits for the other end."""
        path = pathlib.Path(self.folder.name) / str(rank)
        os.mkfifo(path)
        return os.open(path, os.O_RDWR)

    def turn(self):
        """The ranks' reports of the same steps, made once more from the first weights."""
        late = threading.Timer(TURN_S, self._kill)
        late.start()
        for bell in self.bells:
            os.write(bell, b"go\n")
        share = self.ranks // len(self.processes)
        lines = [process.stdout.readline() for process in self.processes for _ in range(share)]
        late.cancel()
        if not all(lines):
            self.log.seek(0)
            sys.exit(f"run {self.processes[0].args}: it ended\n{self.log.read()[-3000:]}")
        return sorted(map(json.loads, lines), key=lambda line: line["rank"])

    def _kill(self):
        for process in self.processes:
            process.kill()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for bell in self.bells:
            os.write(bell, b"end\n")
        try:
            for process in self.processes:
                process.wait(30)
        finally:
            self._kill()
            for bell in self.bells:
                os.close(bell)
            self.folder.cleanup()
