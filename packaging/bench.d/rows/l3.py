# SPDX-License-Identifier: Apache-2.0
"""L3: an order to 64 nodes that are connected: a run is held and goes on, and a program runs on each."""
import statistics
import tempfile

import fleet_lab
import measure

FLOOR_S, GOAL_S = 1, 0.2


def measure_row(pairs):
    if fleet_lab.not_measured("L3"):
        return True
    took = {"continue": [], "hold": [], "untilEachNodeSaysSo": []}

    def go_on_and_hold():
        """Seconds of the slower of both, from the order to the answer that all ranks have obeyed. The run
        and its nodes are there for that alone, as they would take the processors from the peers."""
        with fleet_lab.FleetLab(shares_home=True) as training:
            training.ask("launch")
            training.turn("hold")
            done = {order: training.checked(training.ask(order)) for order in ("continue", "hold")}
            training.ask("kill")
        for order, each in done.items():
            took[order].append(each["seconds"])
            took["untilEachNodeSaysSo"].append(each["told"])
        return max(each["seconds"] for each in done.values())

    def program_again():
        """A session that was idle for 30 s would be opened anew."""
        lab.turn("ask")
        return lab.turn("ask")

    with fleet_lab.FleetLab(shares_home=True) as lab, tempfile.TemporaryDirectory() as folder:
        agents, release = lab.settled()
        ansible = fleet_lab.Ansible(lab, folder, keeps=True)
        with lab.asyncssh(agents) as peer:
            peer.ask("keep")
            taken = fleet_lab.rounds(pairs or 3, {
                "ours": go_on_and_hold,
                "program": program_again,
                "asyncssh": lambda: fleet_lab.turn_of(peer, "connect", release),
                "kept": lambda: fleet_lab.turn_of(peer, "ask", release),
                "ansible": lambda: ansible.raw(f"{agents[0]} --version", release)})
        ansible.close()
        nodes = len(lab.nodes)
    unit = "s from an order to hold or go on to the answer that all ranks have obeyed"
    isFast = statistics.median(taken["ours"]) <= FLOOR_S
    ours = {"floorS": FLOOR_S, "meetsFloor": isFast, "nodes": nodes,
            "tookS": {what: measure.spread(seconds[1:]) for what, seconds in took.items()}}
    versions = measure.versions("asyncssh", "cryptography", "uvloop")
    fleet_lab.report("L3", unit, taken["ours"], taken["asyncssh"], 1, 25, GOAL_S, **ours,
                     peerName="asyncssh: a new connection each, `agent --version`", versions=versions)
    fleet_lab.report("L3-ansible", unit, taken["ours"], taken["ansible"], 1, 150, GOAL_S, **ours,
                     peerName="ansible -m raw, a fork for each node, ssh's connections kept",
                     versions=measure.versions("ansible-core"))
    fleet_lab.report("L3-kept", unit, taken["ours"], taken["kept"], 1, 1, GOAL_S, **ours,
                     peerName="asyncssh: connections kept, `agent --version`", versions=versions)
    program = fleet_lab.report(
        "L3-program", "s until `agent --version` has run on each node", taken["program"], taken["kept"],
        1, 1, nodes=nodes, peerName="asyncssh: connections kept", versions=versions)
    return isFast and program
