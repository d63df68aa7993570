-- SPDX-License-Identifier: GPL-3.0-or-later
-- Nodes that were declared lost, until what lives of the run there was ended; and how many numbers an attempt
-- leaves out behind the last one, as such a node may use them.

CREATE TABLE given_up (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    node TEXT NOT NULL,
    wall_ns INTEGER NOT NULL,
    PRIMARY KEY (run, node)
) WITHOUT ROWID;

ALTER TABLE attempt ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0;
