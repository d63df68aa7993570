// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

namespace rm {

/// As long as it lives, operations on floating-point tensors that this thread asks of ATen on the
/// CPU, and autograd on its behalf, make tensors as always and compute nothing: their values are
/// whatever lies in memory, and a step of any model takes milliseconds. Operations on whole numbers
/// are done, as what others allocate hangs on their values. So are those that have no rule here:
/// which is slow, but no fault.
class SkippedWork {
public:
    SkippedWork();

private:
    c10::impl::IncludeDispatchKeyGuard m_key;
};

/// Whether a SkippedWork lives on this thread: for code that calls a library around ATen.
bool isWorkSkipped();

} // namespace rm
