# SPDX-License-Identifier: Apache-2.0
"""L5: 4 MB that no node has go to 64 nodes, from a laptop with a slow uplink."""
import itertools
import tempfile

import fleet_lab
import measure

BYTES, RATE = 4_000_000, "20mbit"


def measure_row(pairs):
    if fleet_lab.not_measured("L5"):
        return True
    sent, names = [], itertools.count()

    def ours_once():
        lab.ask("tree", BYTES)
        lab.ask("forget")
        before = lab.bytes_sent()
        seconds = lab.turn("deploy")
        sent.append(lab.bytes_sent() - before)
        return seconds

    def peer_once(copy):
        """Of new bytes, under a new name."""
        tree, name = lab.ask("tree", BYTES), f"copy-{next(names)}"
        seconds = copy(tree["file"], name)
        assert lab.are_copies(name, tree["sha256"])
        return seconds

    with fleet_lab.FleetLab(shares_home=False) as lab, tempfile.TemporaryDirectory() as folder:
        lab.ask("uplink", RATE)
        first_contact = lab.turn("open")
        lab.settled()
        ansible = fleet_lab.Ansible(lab, folder, keeps=False)
        taken = fleet_lab.rounds(pairs or 2, {  # of minutes, in which nothing is kept for the next
            "ours": ours_once,
            "scp": lambda: peer_once(lab.scp),
            "ansible": lambda: peer_once(
                lambda path, name: ansible.copy(path, name, changes=True))}, warm=0)
        common = {"nodes": len(lab.nodes), "bytes": BYTES, "rate": RATE,
                  "bytesFromTheLaptop": measure.spread(sent), "firstContactS": round(first_contact, 1)}
    unit = "s until all nodes have the bytes, compared by SHA-256"
    met = fleet_lab.report("L5", unit, taken["ours"], taken["scp"], 5, 20, **common,
                           peerName="scp, one for each node at once")
    return fleet_lab.report("L5-ansible", unit, taken["ours"], taken["ansible"], 5, 20, **common,
                            peerName="ansible -m copy, a fork for each node",
                            versions=measure.versions("ansible-core")) and met
