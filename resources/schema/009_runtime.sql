-- SPDX-License-Identifier: GPL-3.0-or-later
-- What an attempt was run by: "cpu", or PyTorch's runtime on GPUs. Empty: by agents, as the one before, or not known.

ALTER TABLE attempt ADD COLUMN runtime TEXT NOT NULL DEFAULT '';
