-- SPDX-License-Identifier: GPL-3.0-or-later
-- What is set of a run, as its ranks say.

CREATE TABLE settings (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    step INTEGER NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (run, attempt, step)
) WITHOUT ROWID;
