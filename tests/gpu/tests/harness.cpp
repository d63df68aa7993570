// SPDX-License-Identifier: Apache-2.0
#include "tests/gpu/tests/harness.h"

#include <cstdio>

namespace rm::gpu {

std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

Registration::Registration(const char* group, const char* name, void (*run)(const Device&)) {
    tests().push_back({group, name, run});
}

void require(bool condition, const std::string& otherwise) {
    if (!condition)
        throw Failed(otherwise);
}

std::string text(double value) {
    char buffer[32];
    std::snprintf(buffer, sizeof buffer, "%.4g", value);
    return buffer;
}

} // namespace rm::gpu
