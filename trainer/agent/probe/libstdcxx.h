// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/probe/sys_root.h"

#include <string>

namespace rm {

/// The newest GLIBCXX of the libstdc++.so.6 that a program would get here, "3.4.30": looked for
/// where ld.so(8) does, in `libraryPath` ($LD_LIBRARY_PATH), the loader's cache and the usual
/// folders. Empty: none was found.
std::string newestGlibcxx(const SysRoot& root, const std::string& libraryPath);

} // namespace rm
