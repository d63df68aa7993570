// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

namespace rm {

/// While it lives, ATen's operations on floating-point CPU tensors in this thread, and in autograd
/// on its behalf, allocate their results as usual but compute nothing: values are uninitialized,
/// and a step of any model takes milliseconds. Integer operations are computed, as allocations may
/// depend on their values. So are operations without a rule here, which is only slower.
class SkippedWork {
public:
    SkippedWork();

private:
    c10::impl::IncludeDispatchKeyGuard m_key;
};

/// Whether a SkippedWork lives on this thread, for code that calls libraries directly.
bool isWorkSkipped();

} // namespace rm
