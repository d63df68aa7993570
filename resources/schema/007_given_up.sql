-- SPDX-License-Identifier: GPL-3.0-or-later
-- Nodes that were declared lost: until what lives of the run there was ended, and then (ended = 1) until the next
-- attempt has a number that they cannot have used; and how many numbers that attempt leaves out.

CREATE TABLE given_up (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    node TEXT NOT NULL,
    wall_ns INTEGER NOT NULL,
    ended INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, node)
) WITHOUT ROWID;

ALTER TABLE attempt ADD COLUMN skipped INTEGER NOT NULL DEFAULT 0;
