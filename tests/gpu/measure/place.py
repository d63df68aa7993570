# SPDX-License-Identifier: Apache-2.0
"""Where everything is: the bundle, the torch of this machine, a scratch folder, the device."""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import torch

HERE = pathlib.Path(__file__).resolve().parents[1]
PROGRAMS = ("ringmaster-trainer", "ringmaster-agent", "ringmaster-gpu-tests", "ringmaster-gpu-bench")
TORCH = "2.11."
SCRATCH_BYTES = 16 << 30


class Missing(Exception):
    """Nothing can be run here; the text says why. `code`: of the exit."""

    def __init__(self, text, code=1):
        super().__init__(text)
        self.code = code


NO_GPU = 2


def library_folders(bundle):
    """The bundle's, then torch's and those of NVIDIA's wheels beside it."""
    package = pathlib.Path(torch.__path__[0])
    nvidia = sorted(package.parent.glob("nvidia/*/lib"))
    return [bundle / "lib", package / "lib", *nvidia]


def scratch():
    """In memory where there is enough: what is measured is training, not a disk."""
    memory = pathlib.Path("/dev/shm")
    roomy = os.access(memory, os.W_OK) and shutil.disk_usage(memory).free > SCRATCH_BYTES
    return pathlib.Path(tempfile.mkdtemp(prefix="ringmaster-gpu-", dir=memory if roomy else None))


class Place:
    def __init__(self, bundle, device):
        if not torch.__version__.startswith(TORCH):
            raise Missing(f"torch {torch.__version__} is here, {TORCH}x is needed")
        self.bundle, self.device = bundle, device
        self.peers = HERE / "peers"
        folders = [str(folder) for folder in library_folders(bundle)]
        before = [os.environ["LD_LIBRARY_PATH"]] if os.environ.get("LD_LIBRARY_PATH") else []
        self.environment = os.environ | {"LD_LIBRARY_PATH": ":".join(folders + before)}
        self.check_programs()
        if device == "cuda":
            self.check_gpu()
        self.scratch = scratch()

    def program(self, name):
        return str(self.bundle / "bin" / name)

    def check_programs(self):
        for name in PROGRAMS:
            if not os.access(self.program(name), os.X_OK):
                raise Missing(f"{self.program(name)} is missing; packaging/bundle makes the folder")
        for command in (["ringmaster-trainer", "--version"], ["ringmaster-gpu-bench", "--version"],
                        ["ringmaster-gpu-tests", "--list"], ["ringmaster-agent", "--version"]):
            done = self.run(command[0], *command[1:], timeout=60)
            if done.returncode:
                raise Missing(f"start {command[0]}: exit {done.returncode}: {done.stderr.strip()}")

    def check_gpu(self):
        if not torch.cuda.is_available():
            raise Missing("no GPU here: torch.cuda.is_available() is false", NO_GPU)
        if not (self.bundle / "lib" / "libringmaster-cuda.so").exists():
            raise Missing("lib/libringmaster-cuda.so is missing in the bundle")

    def device_name(self):
        return torch.cuda.get_device_name() if self.device == "cuda" else "CPU"

    def commit(self):
        """What the bundle was made of; None: a build folder."""
        file = self.bundle / "commit"
        return file.read_text().strip() if file.exists() else None

    def run(self, name, *arguments, timeout):
        """A program of the bundle to its end; raises subprocess.TimeoutExpired."""
        return subprocess.run([self.program(name), *map(str, arguments)], env=self.environment,
                              capture_output=True, text=True, timeout=timeout, check=False)

    def start_peer(self, script, *arguments):
        """A peer of this Python, with pipes to its input and output."""
        command = [sys.executable, str(self.peers / script), *map(str, arguments)]
        caches = {"TORCHINDUCTOR_CACHE_DIR": str(self.scratch / "inductor"),
                  "TRITON_CACHE_DIR": str(self.scratch / "triton"), "PYTHONDONTWRITEBYTECODE": "1"}
        with open(self.scratch / f"{script}.log", "ab") as log:
            return subprocess.Popen(command, env=os.environ | caches, stdin=subprocess.PIPE,
                                    stdout=subprocess.PIPE, stderr=log, text=True)

    def clean(self):
        shutil.rmtree(self.scratch, ignore_errors=True)
