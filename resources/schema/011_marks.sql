-- SPDX-License-Identifier: GPL-3.0-or-later
-- Marks of a person: a run that matters, and one that is out of the way.

ALTER TABLE run ADD COLUMN starred INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
