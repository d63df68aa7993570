// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/board/board.h"

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace rm {

/// A backend that passes every collective on to `backend` as it is, and writes on the board when it
/// begins and, if `countsEnds`, when it has ended. The board must outlive it. A device's backend
/// (NCCL) knows no ends on the host: its works are done there once they are queued.
c10::intrusive_ptr<c10d::Backend> makeCounted(c10::intrusive_ptr<c10d::Backend> backend,
                                              Board& board, CollectiveGroup group, bool countsEnds);

} // namespace rm
