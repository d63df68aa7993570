# SPDX-License-Identifier: Apache-2.0
"""L2: 64 nodes are reached: connection, host key, login, and an agent that tells its version."""
import tempfile

import fleet_lab
import measure


def measure_row(pairs):
    if fleet_lab.not_measured("L2"):
        return True
    with fleet_lab.FleetLab(shares_home=True) as lab, tempfile.TemporaryDirectory() as folder:
        agents, release = lab.settled()
        ansible = fleet_lab.Ansible(lab, folder, keeps=False)

        def ours_once():
            lab.ask("forget")
            return lab.turn("open")

        with lab.asyncssh(agents) as peer:
            taken = fleet_lab.rounds(pairs or 5, {
                "ours": ours_once,
                "asyncssh": lambda: fleet_lab.turn_of(peer, "connect", release),
                "ansible": lambda: ansible.raw(f"{agents[0]} --version", release)})
        nodes = len(lab.nodes)
    unit = "s until all nodes are reached and their agents have told the version"
    ours, theirs = taken["ours"], taken["asyncssh"]
    met = measure.report(
        "L2", unit, ours, theirs, measure.per_peer(ours, theirs), floor=1.1, goal=1, better="less",
        nodes=nodes, peerName="asyncssh: a connection each, known_hosts, `agent --version`",
        versions=measure.versions("asyncssh", "cryptography", "uvloop"))
    return fleet_lab.report("L2-ansible", unit, ours, taken["ansible"], floor=1, goal=5, nodes=nodes,
                            peerName="ansible -m raw, a fork for each node",
                            versions=measure.versions("ansible-core")) and met
