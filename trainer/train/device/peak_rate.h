// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rm {

/// The most that a GPU of that name ("NVIDIA H100 80GB HBM3", as its driver calls it) can do in
/// `precision` ("bfloat16" | "float16") by NVIDIA's data sheets, in 10^12 operations a second:
/// dense products of 16 bits with sums of 32. nullopt: it is not known, or float32, where products
/// may be of other formats.
std::optional<double> peakTflops(std::string_view gpu, const std::string& precision);

} // namespace rm
