// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

/// Blocks SIGTERM and SIGUSR1: they stay pending until isPreempted() is asked, by the exchange that
/// tells all ranks that one was told to end, and by what waits for other ranks before that. Call it
/// before threads are created, which inherit the mask.
void catchPreemption();

/// Whether one of these signals has come.
bool isPreempted();

} // namespace rm
