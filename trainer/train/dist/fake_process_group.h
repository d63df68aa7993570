// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace rm {

/// A group of which only this rank exists: a collective completes at once and changes no tensor,
/// but takes the memory that Gloo's takes on the CPU. Used to rehearse a step as one rank of many
/// (memory/rehearsal.h).
c10::intrusive_ptr<c10d::Backend> makeFakeProcessGroup(int rank, int worldSize);

} // namespace rm
