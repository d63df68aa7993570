-- SPDX-License-Identifier: GPL-3.0-or-later
-- Traces: what every rank did in some steps, as its journal tells it.

CREATE TABLE trace (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    first_step INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    node INTEGER NOT NULL,
    steps INTEGER NOT NULL,
    last_step INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    clock_ns INTEGER NOT NULL,
    on_device INTEGER NOT NULL,
    done INTEGER NOT NULL,
    slices INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (run, attempt, first_step, rank)
);
