# SPDX-License-Identifier: Apache-2.0
"""Peer of L2 and L3: a command on all nodes at once by asyncssh, on uvloop.

    asyncssh_fleet.py '{"key", "knownHosts", "nodes": [{"address", "port"}], "commands": [TEXT...]}'

For each line of its input it prints a line of JSON, {"seconds", "answers": [TEXT...]}:

    connect   a new connection to each node and its command on it; closing them is not measured
    keep      opens connections and keeps them: {}
    ask       the commands on the connections that were kept
"""
import asyncio
import json
import sys
import time

import asyncssh
import uvloop


class Fleet:
    def __init__(self, order):
        self.order = order
        self.key = asyncssh.read_private_key(order["key"])
        self.known = asyncssh.read_known_hosts(order["knownHosts"])
        self.kept = []

    def connect(self, node):
        return asyncssh.connect(
            node["address"], node["port"], username="root", client_keys=[self.key], config=None,
            known_hosts=self.known, agent_path=None, preferred_auth="publickey", gss_auth=False,
            gss_kex=False, login_timeout=600, connect_timeout=600)

    async def run_on_new(self, node, command):
        connection = await self.connect(node)
        return connection, await self.run(connection, command)

    async def run(self, connection, command):
        return (await connection.run(command, check=True)).stdout

    async def turn(self, verb):
        nodes, commands = self.order["nodes"], self.order["commands"]
        if verb == "keep":
            self.kept = await asyncio.gather(*map(self.connect, nodes))
            return {}
        begin = time.monotonic()
        if verb == "ask":
            answers = await asyncio.gather(*map(self.run, self.kept, commands))
            return {"seconds": time.monotonic() - begin, "answers": answers}
        both = await asyncio.gather(*map(self.run_on_new, nodes, commands))
        seconds = time.monotonic() - begin
        for connection, _ in both:
            connection.close()
        await asyncio.gather(*(connection.wait_closed() for connection, _ in both))
        return {"seconds": seconds, "answers": [answer for _, answer in both]}


async def main():
    fleet = Fleet(json.loads(sys.argv[1]))
    while line := (await asyncio.to_thread(sys.stdin.readline)).strip():
        print(json.dumps(await fleet.turn(line)), flush=True)


uvloop.run(main())
