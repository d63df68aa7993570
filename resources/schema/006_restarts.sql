-- SPDX-License-Identifier: GPL-3.0-or-later
-- Agents restart a run by themselves, perhaps on fewer nodes.

ALTER TABLE node_end ADD COLUMN goes_on INTEGER NOT NULL DEFAULT 0;
ALTER TABLE run ADD COLUMN min_nodes INTEGER NOT NULL DEFAULT 0;
