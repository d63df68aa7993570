// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace rm {

/// "1 run is", "2 runs are"
inline std::string counted(int64_t count, const char* one, const char* many) {
    return std::to_string(count) + ' ' + (count == 1 ? one : many);
}

/// "1 rank", "2 ranks": for nouns that only get an "s".
inline std::string counted(int64_t count, const char* noun) {
    return counted(count, noun, (std::string(noun) + 's').c_str());
}

} // namespace rm
