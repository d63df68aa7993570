# SPDX-License-Identifier: Apache-2.0
"""L4: a bundle of 100 MB that is on the nodes already is deployed once more."""
import tempfile

import fleet_lab
import measure

NODES, BYTES, GOAL_S = 8, 100_000_000, 0.05
LITTLE = 50_000  # bytes for a node that cannot hold anything of the bundle


def measure_row(pairs):
    if fleet_lab.not_measured("L4"):
        return True
    sent = []

    def ours_once():
        before = lab.bytes_sent()
        seconds = lab.turn("deploy")
        sent.append((lab.bytes_sent() - before) / NODES)
        assert sent[-1] < LITTLE, sent
        return seconds / NODES

    with fleet_lab.FleetLab(shares_home=False, nodes=NODES) as lab, \
            tempfile.TemporaryDirectory() as folder:
        lab.settled()
        tree = lab.ask("tree", BYTES)
        lab.turn("deploy")
        ansible = fleet_lab.Ansible(lab, folder, keeps=True)
        ansible.copy(tree["file"], "copied", changes=True)
        taken = fleet_lab.rounds(pairs or 5, {
            "ours": ours_once,
            "ansible": lambda: ansible.copy(tree["file"], "copied", changes=False) / NODES})
        assert lab.are_copies("copied", tree["sha256"])
        ansible.close()
    return fleet_lab.report(
        "L4", "s a node for a bundle that it has", taken["ours"], taken["ansible"], 1, 20, GOAL_S,
        nodes=NODES, bytes=BYTES, bytesSentToANode=measure.spread(sent),
        peerName="ansible -m copy of one file, a fork for each node, ssh's connections kept",
        versions=measure.versions("ansible-core"))
