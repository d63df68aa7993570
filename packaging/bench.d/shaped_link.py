# SPDX-License-Identifier: Apache-2.0
"""Two network namespaces joined by a link of a given rate, as two machines on a slow network."""
import os
import re
import subprocess

ADDRESSES = ("10.232.1.1", "10.232.1.2")
DEVICE = "link0"  # in both
NET = "10.232.1.0/24"


def why_not():
    """Why such a link cannot be had here; None: it can."""
    if os.geteuid() != 0:
        return "make network namespaces: not root"
    for words in (["ip", "-V"], ["tc", "-V"]):
        try:
            subprocess.run(words, check=True, capture_output=True)
        except OSError as error:
            return f"run {words[0]}: {error.strerror} (package iproute2)"
    return None


def run(command):
    subprocess.run(command.split(), check=True)


def sweep():
    """Removes the namespaces of benches that were killed before they could."""
    for name in os.listdir("/run/netns") if os.path.isdir("/run/netns") else []:
        owner = re.fullmatch(r"rm-bench-(\d+)-\d", name)
        if owner and not os.path.exists(f"/proc/{owner[1]}"):
            run(f"ip netns del {name}")


class ShapedLink:
    def __init__(self, mbit):
        self.mbit = mbit
        self.spaces = [f"rm-bench-{os.getpid()}-{end}" for end in range(2)]

    def prefixes(self):
        """Words before a command that start it at the one or the other end."""
        return [["ip", "netns", "exec", space] for space in self.spaces]

    def __enter__(self):
        sweep()
        try:
            self._build()
        except BaseException:
            self.__exit__()
            raise
        return self

    def _build(self):
        for space in self.spaces:
            run(f"ip netns add {space}")
            run(f"ip -n {space} link set lo up")
        first, second = self.spaces
        run(f"ip link add {DEVICE} netns {first} type veth peer name {DEVICE} netns {second}")
        for space, address in zip(self.spaces, ADDRESSES):
            run(f"ip -n {space} addr add {address}/24 dev {DEVICE}")
            run(f"ip -n {space} link set {DEVICE} up")
            run(f"ip -n {space} route change {NET} dev {DEVICE} src {address} congctl cubic")
            run(f"tc -n {space} qdisc add dev {DEVICE} root tbf rate {self.mbit}mbit "
                "burst 256kb latency 100ms")

    def __exit__(self, *_):
        """Whatever ran inside has ended: who started it has waited for it."""
        for space in self.spaces:
            if os.path.exists(f"/run/netns/{space}"):
                run(f"ip netns del {space}")
