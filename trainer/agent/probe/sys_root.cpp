// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/probe/sys_root.h"

#include <fstream>
#include <sstream>

namespace rm {

std::string SysRoot::text(const std::string& absolute) const {
    std::ifstream file(path(absolute), std::ios::binary);
    std::ostringstream all;
    if (file)
        all << file.rdbuf();
    return all.str();
}

std::string SysRoot::line(const std::string& absolute) const {
    std::ifstream file(path(absolute), std::ios::binary);
    std::string first;
    std::getline(file, first);
    while (!first.empty() && (first.back() == ' ' || first.back() == '\t' || first.back() == '\r'))
        first.pop_back();
    return first;
}

} // namespace rm
