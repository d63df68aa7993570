// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/probe/sys_root.h"

#include <string>

namespace rm {

/// The newest GLIBCXX of the libstdc++.so.6 that a rank would get here, "3.4.30": looked for where
/// ld.so(8) does, in the loader's cache and the usual folders, but not in LD_LIBRARY_PATH, which
/// ranks do not have. Empty: none was found.
std::string newestGlibcxx(const SysRoot& root);

} // namespace rm
