-- SPDX-License-Identifier: GPL-3.0-or-later
-- Where else a checkpoint lies, when every byte of it was last seen to be right, whether it is pinned.

CREATE TABLE checkpoint_copy (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    node TEXT NOT NULL,
    folder TEXT NOT NULL,
    wall_ns INTEGER NOT NULL,
    PRIMARY KEY (run, path, node)
) WITHOUT ROWID;

ALTER TABLE checkpoint ADD COLUMN verified_ns INTEGER;
ALTER TABLE checkpoint ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
