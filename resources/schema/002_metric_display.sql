-- SPDX-License-Identifier: GPL-3.0-or-later
-- What a metric of a run's own says of how it is to be watched and shown. Those of Ringmaster
-- itself are shown as the release that reads them says.

ALTER TABLE metric ADD COLUMN clock INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metric ADD COLUMN direction INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metric ADD COLUMN format INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metric ADD COLUMN ranks INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metric ADD COLUMN smooth INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metric ADD COLUMN panel TEXT NOT NULL DEFAULT '';
ALTER TABLE metric ADD COLUMN place INTEGER NOT NULL DEFAULT 0;
ALTER TABLE metric ADD COLUMN label TEXT NOT NULL DEFAULT '';
ALTER TABLE metric ADD COLUMN brief TEXT NOT NULL DEFAULT '';

-- What was sampled by the clock lies in lanes that say so.
UPDATE metric SET clock = 1 WHERE journal_id BETWEEN 30 AND 999;
