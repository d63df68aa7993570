// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/csrc/distributed/c10d/Backend.hpp>

namespace rm {

/// The collectives of `host`, a backend for tensors in the host's memory, for tensors of any
/// device: each copies them there and back, and returns once that is done. The plain way for a
/// device whose own collectives cannot be trusted.
c10::intrusive_ptr<c10d::Backend> makeHostBackend(c10::intrusive_ptr<c10d::Backend> host);

} // namespace rm
