-- SPDX-License-Identifier: GPL-3.0-or-later
-- Lines of logs have the time at which their node wrote them, how serious they are and where they come from, and
-- can be searched by words.

ALTER TABLE log_line ADD COLUMN stamped INTEGER NOT NULL DEFAULT 0;
ALTER TABLE log_line ADD COLUMN severity INTEGER NOT NULL DEFAULT 0;
ALTER TABLE log_line ADD COLUMN node TEXT NOT NULL DEFAULT '';

DROP INDEX log_line_rank;
CREATE INDEX log_line_rank ON log_line (run, rank, wall_ns);
CREATE INDEX log_line_time ON log_line (run, wall_ns);
CREATE INDEX log_line_severe ON log_line (run, wall_ns) WHERE severity > 0;

-- The words of the lines up to the id `filled`. The writer puts in the others when it is idle, so that what comes is
-- stored as fast as without. Lines up to the id `unrated`, of an earlier schema, have no severity until then.
CREATE VIRTUAL TABLE log_text USING fts5 (
    text, content = 'log_line', content_rowid = 'id', tokenize = 'ascii', detail = 'none', columnsize = 0
);
CREATE TABLE log_search (
    one INTEGER PRIMARY KEY CHECK (one = 1),
    filled INTEGER NOT NULL,
    unrated INTEGER NOT NULL
);
INSERT INTO log_search (one, filled, unrated) SELECT 1, 0, coalesce(max(id), 0) FROM log_line;

-- Ids of lines that were deleted are used again.
CREATE TRIGGER log_text_insert AFTER INSERT ON log_line WHEN new.id <= (SELECT filled FROM log_search) BEGIN
    INSERT INTO log_text (rowid, text) VALUES (new.id, new.text);
END;
CREATE TRIGGER log_text_delete AFTER DELETE ON log_line WHEN old.id <= (SELECT filled FROM log_search) BEGIN
    INSERT INTO log_text (log_text, rowid, text) VALUES ('delete', old.id, old.text);
END;
