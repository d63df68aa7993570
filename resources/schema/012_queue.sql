-- SPDX-License-Identifier: GPL-3.0-or-later
-- Runs that wait for free nodes, in their order, and the sweeps that some of them are of.

CREATE TABLE queue (
    run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    place INTEGER NOT NULL,
    nodes TEXT NOT NULL,
    wanted INTEGER NOT NULL DEFAULT 0,
    too_large INTEGER NOT NULL DEFAULT 0,
    why TEXT NOT NULL DEFAULT ''
);

CREATE TABLE sweep (
    id TEXT PRIMARY KEY,
    nodes TEXT NOT NULL,
    wanted INTEGER NOT NULL DEFAULT 0,
    too_large INTEGER NOT NULL DEFAULT 0,
    eta INTEGER NOT NULL DEFAULT 0,
    created_ns INTEGER NOT NULL
) WITHOUT ROWID;

ALTER TABLE run ADD COLUMN sweep TEXT NOT NULL DEFAULT '';
ALTER TABLE run ADD COLUMN rung INTEGER NOT NULL DEFAULT 0;

CREATE INDEX run_sweep ON run (sweep) WHERE sweep <> '';
CREATE INDEX run_live ON run (state) WHERE state IN (0, 1);
