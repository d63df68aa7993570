-- SPDX-License-Identifier: GPL-3.0-or-later
-- What more is known of a sample, and how a validation confused the classes of pictures.

ALTER TABLE sample_text ADD COLUMN kind INTEGER NOT NULL DEFAULT 0;
ALTER TABLE sample_text ADD COLUMN reference TEXT NOT NULL DEFAULT '';
ALTER TABLE sample_text ADD COLUMN score REAL;
ALTER TABLE sample_text ADD COLUMN picture BLOB;

CREATE TABLE confusion (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    step INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    classes INTEGER NOT NULL,
    names TEXT NOT NULL,
    counts BLOB NOT NULL
);
CREATE INDEX confusion_run ON confusion (run, step);
