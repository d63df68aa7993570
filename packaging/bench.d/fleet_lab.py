# SPDX-License-Identifier: Apache-2.0
"""A laptop and nodes, each a network namespace with a real sshd (tests/bench/fleet.cpp), and how peers
reach them: all have the same key, and know the hosts' keys."""
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import measure
import shaped_link

PROGRAM = measure.BUILD / "tests" / "fleet"
NODES = 64  # unless packaging/bench is told otherwise
PATIENCE_S = 1200


def why_not():
    """Why there can be none here; None: there can."""
    missing = [path for path in ("/usr/sbin/sshd", "/usr/bin/ssh") if not os.path.exists(path)]
    return shaped_link.why_not() or (f"run {missing[0]}: it is not there" if missing else None)


def not_measured(row):
    """Whether this row cannot be measured here, which then is said."""
    if cause := why_not():
        print(json.dumps({"row": row, "notMeasured": cause}), flush=True)
    return cause is not None


class Asked:
    """A program that answers each line of its input by a line of JSON."""

    def __init__(self, command, environment):
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen([str(word) for word in command], env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log)

    def ask(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line or "error" in (found := json.loads(line)):
            self.log.seek(0)
            sys.exit(f"ask {self.process.args}: {line or 'it ended'}\n{self.log.read()[-3000:]}")
        return found

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        try:
            self.process.wait(PATIENCE_S)
        finally:
            self.process.kill()
            self.log.close()


class FleetLab(Asked):
    """Our side too, which ask() has make its turns."""

    def __init__(self, shares_home, nodes=None):
        super().__init__([PROGRAM, nodes or NODES, "shared" if shares_home else "own"], os.environ)
        self.places = self.answer()
        self.nodes = self.places["nodes"]

    def checked(self, done):
        """The answer to a turn in which every node took part."""
        took_part = done.get("nodes", len(done.get("answers", [])))
        assert took_part == len(self.nodes), done
        return done

    def turn(self, *words):
        return self.checked(self.ask(*words))["seconds"]

    def settled(self):
        """Where the agent is on each node, and what each says when it is asked for its version. They
        are there by then, and old enough to be known as unchanged (bootstrap.h)."""
        self.turn("open")
        time.sleep(3)
        self.ask("forget")
        return self.ask("open")["answers"], self.ask("ask")["answers"]

    def prefix(self):
        """Words before a command that start it on the laptop."""
        return ["ip", "netns", "exec", self.places["space"]]

    def bytes_sent(self):
        """By the laptop, so far."""
        links = json.loads(measure.run(["ip", "-n", self.places["space"], "-s", "-j", "link"]))
        return sum(link["stats64"]["tx"]["bytes"] for link in links if link["ifname"] != "lo")

    def ssh_options(self):
        options = {"IdentityFile": self.places["key"], "UserKnownHostsFile": self.places["knownHosts"],
                   "StrictHostKeyChecking": "yes", "IdentitiesOnly": "yes", "BatchMode": "yes",
                   "PreferredAuthentications": "publickey", "LogLevel": "ERROR"}
        return ["-F", "none", *(f"-o{name}={value}" for name, value in options.items())]

    def asyncssh(self, agents):
        """The peer, to be asked for turns: peers/asyncssh_fleet.py."""
        order = {**self.places, "commands": [f"{agent} --version" for agent in agents]}
        script = measure.PEERS / "asyncssh_fleet.py"
        return Asked([*self.prefix(), sys.executable, script, json.dumps(order)], os.environ)

    def scp(self, source, name):
        """Copies a file into all homes at once. Seconds until all have it."""
        begin = time.monotonic()
        copies = [subprocess.Popen(
            [*self.prefix(), "scp", "-q", *self.ssh_options(), "-P", str(node["port"]), source,
             f"root@{node['address']}:{node['home']}/{name}"]) for node in self.nodes]
        codes = [copy.wait(PATIENCE_S) for copy in copies]
        seconds = time.monotonic() - begin
        assert not any(codes), codes
        return seconds

    def are_copies(self, name, sha256):
        """Whether this file in all homes has that SHA-256."""
        paths = [f"{node['home']}/{name}" for node in self.nodes]
        said = measure.run(["sha256sum", *paths])
        return [line.split()[0] for line in said.splitlines()] == [sha256] * len(paths)


class Ansible:
    """`ansible` for all nodes at once. `keeps`: ssh's connections stay open between commands."""

    def __init__(self, lab, folder, keeps):
        self.lab = lab
        self.folder = pathlib.Path(folder)
        self.inventory = self.folder / "hosts"
        self.inventory.write_text("".join(
            f"node{i} ansible_host={node['address']} ansible_port={node['port']} "
            f"home={node['home']} ansible_remote_tmp={node['home']}/ansible\n"
            for i, node in enumerate(lab.nodes)))
        sharing = ("-o ControlMaster=auto -o ControlPersist=600" if keeps
                   else "-o ControlMaster=no -o ControlPath=none")
        self.environment = {
            **os.environ, "HOME": folder, "ANSIBLE_PIPELINING": "1",
            "ANSIBLE_LOCAL_TEMP": f"{folder}/tmp", "ANSIBLE_REMOTE_USER": "root",
            "ANSIBLE_SSH_CONTROL_PATH_DIR": f"{folder}/c",
            "ANSIBLE_SSH_ARGS": " ".join([*lab.ssh_options(), sharing]),
            "ANSIBLE_PYTHON_INTERPRETER": "/usr/bin/python3", "ANSIBLE_FORKS": str(len(lab.nodes)),
            "ANSIBLE_NOCOLOR": "1",
        }

    def run(self, module, arguments, says):
        """Seconds of a command of which every node's line has these words."""
        command = [*self.lab.prefix(), sys.executable, "-m", "ansible", "adhoc", "all", "--one-line",
                   "-i", self.inventory, "-m", module, "-a", arguments]
        begin = time.monotonic()
        done = subprocess.run(command, env=self.environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, timeout=PATIENCE_S)
        seconds = time.monotonic() - begin
        if sum(says in line for line in done.stdout.splitlines()) != len(self.lab.nodes):
            sys.exit(f"run {command}: exit {done.returncode}\n{done.stdout[-3000:]}")
        return seconds

    def raw(self, command, release):
        """A command that says its release on every node."""
        return self.run("raw", command, release[0].strip())

    def copy(self, source, name, changes):
        return self.run("copy", f"src={source} dest={{{{ home }}}}/{name} mode=0600",
                        f'"changed": {json.dumps(changes)}')

    def close(self):
        """Ends the connections that it kept."""
        for path in (self.folder / "c").glob("*"):
            subprocess.run(["ssh", "-F", "none", "-o", f"ControlPath={path}", "-O", "exit", "any"],
                           capture_output=True, timeout=60, check=False)


def turn_of(peer, verb, release):
    """Seconds of a turn of asyncssh in which all nodes gave the answer that ours got."""
    done = peer.ask(verb)
    assert done["answers"] == release, done
    return done["seconds"]


def rounds(pairs, sides, warm=1):
    """What each side took in each of so many rounds, in turn; `warm` rounds before are not counted."""
    taken = {name: [] for name in sides}
    for index in range(-warm, pairs):
        took = {name: once() for name, once in sides.items()}
        print(f"  round {index + 1}/{pairs}: {took}", file=sys.stderr)
        for name in sides if index >= 0 else ():
            taken[name].append(took[name])
    return taken


def report(row, unit, ours, theirs, floor, goal, goal_s=None, **details):
    """A row of what ours and theirs took, peer / ours. `goal_s`: that ours is to take no longer, too."""
    ratios = measure.per_ours(ours, theirs)
    if goal_s is not None:
        met = statistics.median(ratios) >= goal and statistics.median(ours) <= goal_s
        details = {"goalS": goal_s, "meetsGoal": met, **details}
    return measure.report(row, unit, ours, theirs, ratios, floor=floor, goal=goal, better="more", **details)
