-- SPDX-License-Identifier: GPL-3.0-or-later
-- Whether the app concluded the run's end from what was missing: a node that tells of it later corrects that.

ALTER TABLE run ADD COLUMN presumed INTEGER NOT NULL DEFAULT 0;
