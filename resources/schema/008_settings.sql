-- SPDX-License-Identifier: GPL-3.0-or-later
-- What is set of a run now, as its ranks say.

CREATE TABLE settings (
    run INTEGER PRIMARY KEY REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    step INTEGER NOT NULL,
    value TEXT NOT NULL
);
