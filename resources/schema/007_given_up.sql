-- SPDX-License-Identifier: GPL-3.0-or-later
-- Nodes that were declared lost, until what lives of the run there was ended.

CREATE TABLE given_up (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    node TEXT NOT NULL,
    wall_ns INTEGER NOT NULL,
    PRIMARY KEY (run, node)
) WITHOUT ROWID;
