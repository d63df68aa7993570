-- SPDX-License-Identifier: GPL-3.0-or-later
-- What the tables mean, and how to read them from pandas or DuckDB: SCHEMA.md beside this file.

CREATE TABLE about (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE run (
    id INTEGER PRIMARY KEY,
    uuid TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    state INTEGER NOT NULL,
    message TEXT NOT NULL DEFAULT '',
    attempt INTEGER NOT NULL DEFAULT 1,
    spec TEXT NOT NULL,
    total_steps INTEGER NOT NULL,
    notes TEXT NOT NULL DEFAULT '',
    tags TEXT NOT NULL DEFAULT '[]',
    parent_run TEXT NOT NULL DEFAULT '',
    parent_step INTEGER NOT NULL DEFAULT 0,
    created_ns INTEGER NOT NULL,
    updated_ns INTEGER NOT NULL,
    deleted_ns INTEGER,
    revision INTEGER NOT NULL DEFAULT 0
);

CREATE TABLE node (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    node INTEGER NOT NULL,
    name TEXT NOT NULL,
    ranks INTEGER NOT NULL,
    first_rank INTEGER NOT NULL,
    PRIMARY KEY (run, attempt, node)
) WITHOUT ROWID;

CREATE TABLE cursor (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    node INTEGER NOT NULL,
    file TEXT NOT NULL,
    offset INTEGER NOT NULL,
    PRIMARY KEY (run, node, file)
) WITHOUT ROWID;

CREATE TABLE attempt (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    start_step INTEGER,
    start_from TEXT NOT NULL DEFAULT '',
    asked_ns INTEGER,
    started_ns INTEGER,
    PRIMARY KEY (run, attempt)
) WITHOUT ROWID;

CREATE TABLE node_end (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    node INTEGER NOT NULL,
    outcome INTEGER NOT NULL,
    first_failed_rank INTEGER NOT NULL,
    exit_code INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (run, attempt, node)
) WITHOUT ROWID;

CREATE TABLE rank (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    node INTEGER NOT NULL,
    pid INTEGER NOT NULL DEFAULT 0,
    step INTEGER,
    exited INTEGER NOT NULL DEFAULT 0,
    exit_code INTEGER NOT NULL DEFAULT 0,
    signal INTEGER NOT NULL DEFAULT 0,
    exited_ns INTEGER NOT NULL DEFAULT 0,
    message TEXT NOT NULL DEFAULT '',
    log_tail TEXT NOT NULL DEFAULT '',
    PRIMARY KEY (run, attempt, rank)
) WITHOUT ROWID;

CREATE TABLE metric (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    journal_id INTEGER,
    name TEXT NOT NULL,
    unit TEXT NOT NULL,
    kind INTEGER NOT NULL,
    scope INTEGER NOT NULL,
    description TEXT NOT NULL,
    UNIQUE (run, name)
);

CREATE TABLE lane (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    timed INTEGER NOT NULL,
    attempt INTEGER NOT NULL,
    UNIQUE (run, rank, timed, attempt)
);

CREATE TABLE series (
    lane INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE,
    metric INTEGER NOT NULL,
    chunks INTEGER NOT NULL DEFAULT 0,
    chunk_points INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (lane, metric)
) WITHOUT ROWID;

CREATE TABLE tail (
    lane INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    tier INTEGER NOT NULL,
    first_step INTEGER NOT NULL,
    last_step INTEGER NOT NULL,
    points INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (lane, seq)
) WITHOUT ROWID;

CREATE TABLE axis (
    lane INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    points INTEGER NOT NULL,
    steps BLOB NOT NULL,
    walls BLOB NOT NULL,
    pyramid BLOB NOT NULL
);
CREATE UNIQUE INDEX axis_key ON axis (lane, seq);

CREATE TABLE chunk (
    lane INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE,
    metric INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    axis INTEGER NOT NULL,
    first_step INTEGER NOT NULL,
    last_step INTEGER NOT NULL,
    points INTEGER NOT NULL,
    data BLOB NOT NULL,
    pyramid BLOB NOT NULL
);
CREATE UNIQUE INDEX chunk_key ON chunk (lane, metric, seq, first_step, last_step);

CREATE TABLE pyramid (
    lane INTEGER NOT NULL REFERENCES lane (id) ON DELETE CASCADE,
    metric INTEGER NOT NULL,
    level INTEGER NOT NULL,
    seq INTEGER NOT NULL,
    data BLOB NOT NULL,
    PRIMARY KEY (lane, metric, level, seq)
) WITHOUT ROWID;

CREATE TABLE event (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    node INTEGER NOT NULL,
    rank INTEGER NOT NULL,
    step INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    severity INTEGER NOT NULL,
    code TEXT NOT NULL,
    message TEXT NOT NULL
);
CREATE INDEX event_run ON event (run);

CREATE TABLE checkpoint (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    path TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    step INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    bytes INTEGER NOT NULL,
    duration_ms REAL,
    reason TEXT NOT NULL,
    validation_loss REAL,
    best INTEGER NOT NULL,
    removed INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (run, path)
) WITHOUT ROWID;

CREATE TABLE command (
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    uuid TEXT NOT NULL,
    attempt INTEGER NOT NULL,
    kind TEXT NOT NULL,
    step INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    ok INTEGER NOT NULL,
    message TEXT NOT NULL,
    PRIMARY KEY (run, uuid)
) WITHOUT ROWID;

CREATE TABLE sample_text (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    attempt INTEGER NOT NULL,
    step INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    prompt TEXT NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX sample_text_run ON sample_text (run);

CREATE TABLE log_line (
    id INTEGER PRIMARY KEY,
    run INTEGER NOT NULL REFERENCES run (id) ON DELETE CASCADE,
    rank INTEGER NOT NULL,
    wall_ns INTEGER NOT NULL,
    text TEXT NOT NULL
);
CREATE INDEX log_line_run ON log_line (run);
CREATE INDEX log_line_rank ON log_line (run, rank);
