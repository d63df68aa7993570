-- SPDX-License-Identifier: GPL-3.0-or-later
-- Which trainer and which data an attempt was begun with. Empty: by agents, as the one before, or not known.

ALTER TABLE attempt ADD COLUMN trainer TEXT NOT NULL DEFAULT '';
ALTER TABLE attempt ADD COLUMN data TEXT NOT NULL DEFAULT '';
