-- SPDX-License-Identifier: GPL-3.0-or-later
-- What was asked of a run, by whom and when, and what became of it: kept until it is answered,
-- through restarts of the app.

CREATE TABLE asked_command (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    uuid TEXT NOT NULL,
    kind TEXT NOT NULL,
    arguments TEXT NOT NULL,
    who TEXT NOT NULL,
    asked_from INTEGER NOT NULL,
    asked_ns INTEGER NOT NULL,
    state INTEGER NOT NULL DEFAULT 0,
    accepted_ns INTEGER,
    answered_ns INTEGER,
    step INTEGER NOT NULL DEFAULT -1,
    answer TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run, uuid)
) WITHOUT ROWID;

-- How many lines of a rank's log were left out at its begin, as there were too many.
CREATE TABLE log_cut (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    lines INTEGER NOT NULL,
    PRIMARY KEY (run, rank)
) WITHOUT ROWID;
