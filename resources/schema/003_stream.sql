-- SPDX-License-Identifier: GPL-3.0-or-later
-- What one rank emits in one attempt is a stream.

ALTER TABLE lane RENAME TO stream;
ALTER TABLE series RENAME COLUMN lane TO stream;
ALTER TABLE tail RENAME COLUMN lane TO stream;
ALTER TABLE axis RENAME COLUMN lane TO stream;
ALTER TABLE chunk RENAME COLUMN lane TO stream;
ALTER TABLE pyramid RENAME COLUMN lane TO stream;
