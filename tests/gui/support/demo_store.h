// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

namespace rm::test {

/// Ids of the runs that writeDemoStore() makes.
inline const QString kRunningRun = "translation-en-it-7f3a10";
inline const QString kPausedRun = "gpt-16x512-2b91c4";
inline const QString kFinishedRun = "gpt-tiny-9d04e7";
inline const QString kFailedRun = "gpt-2x8-51aa02";
inline const QString kPicturesRun = "resnet-icons-1e55a7";
inline const QString kPreparingRun = "gpt-tiny-c0ffee";

/// Fills an empty database with invented runs, the same each time but for "now": what a person
/// has after a week of work. For tests of the window only; nothing else ever reads it.
Result<void> writeDemoStore(const QString& path, int64_t nowNs);

} // namespace rm::test
