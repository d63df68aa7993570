# SPDX-License-Identifier: Apache-2.0
"""L3: an order to 64 nodes that are connected: a run is held, goes on, is paused and resumed, and a program
runs on each."""
import statistics
import tempfile

import fleet_lab
import measure

FLOOR_S, GOAL_S = 1, 0.2
SSH_PACKAGES = ("asyncssh", "cryptography", "uvloop")
# By row: the orders, of which the slower one counts, and what is measured of each.
ROWS = {
    "L3": (("hold", "continue"), "s from an order to hold or go on to the answer that all ranks have obeyed"),
    "L3-pause": (("pause",), "s from an order to pause to the answer that all ranks have ended their step and "
                             "the checkpoint is whole"),
    "L3-resume": (("resume",), "s from an order to resume to the answer that each node's agent has begun its "
                               "rank"),
}
PEERS = (("", "asyncssh", 25, "asyncssh: a new connection each, `agent --version`", SSH_PACKAGES),
         ("-ansible", "ansible", 150, "ansible -m raw, a fork for each node, ssh's connections kept",
          ("ansible-core",)),
         ("-kept", "kept", 1, "asyncssh: connections kept, `agent --version`", SSH_PACKAGES))


def orders_once():
    """Seconds of each order to a run with a rank on each node, until it is obeyed. The run and its nodes
    are there for that alone, as they would take the processors from the peers."""
    with fleet_lab.FleetLab(shares_home=True) as training:
        training.ask("launch")
        training.turn("hold"), training.turn("continue")  # the first of each may be slower
        done = {order: training.checked(training.ask(order))
                for orders, _ in ROWS.values() for order in orders}
        training.ask("kill")
    return done


def report_orders(row, done, taken, nodes):
    """Against each peer; whether the orders of this row meet the floor."""
    orders, unit = ROWS[row]
    ours = [max(each[order]["seconds"] for order in orders) for each in done]
    isFast = statistics.median(ours) <= FLOOR_S
    took, told = ({order: measure.spread([each[order][what] for each in done]) for order in orders}
                  for what in ("seconds", "told"))
    for suffix, side, goal, name, packages in PEERS:
        fleet_lab.report(row + suffix, unit, ours, taken[side], 1, goal, GOAL_S, floorS=FLOOR_S,
                         meetsFloor=isFast, nodes=nodes, tookS=took, untilEachNodeSaysSoS=told,
                         peerName=name, versions=measure.versions(*packages))
    return isFast


def measure_row(pairs):
    if fleet_lab.not_measured("L3"):
        return True

    def program_again():
        """A session that was idle for 30 s would be opened anew."""
        lab.turn("ask")
        return lab.turn("ask")

    with fleet_lab.FleetLab(shares_home=True) as lab, tempfile.TemporaryDirectory() as folder:
        agents, release = lab.settled()
        ansible = fleet_lab.Ansible(lab, folder, keeps=True)
        with lab.asyncssh(agents) as peer:
            peer.ask("keep")
            taken = fleet_lab.rounds(pairs or 5, {
                "orders": orders_once,
                "program": program_again,
                "asyncssh": lambda: fleet_lab.turn_of(peer, "connect", release),
                "kept": lambda: fleet_lab.turn_of(peer, "ask", release),
                "ansible": lambda: ansible.raw(f"{agents[0]} --version", release)})
        ansible.close()
        nodes = len(lab.nodes)
    met = [report_orders(row, taken["orders"], taken, nodes) for row in ROWS]
    program = fleet_lab.report(
        "L3-program", "s until `agent --version` has run on each node", taken["program"], taken["kept"],
        1, 1, nodes=nodes, peerName="asyncssh: connections kept", versions=measure.versions(*SSH_PACKAGES))
    return all(met) and program
