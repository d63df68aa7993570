// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace rm {

/// The mistakes in a list of "NAME=value" that people give for ranks, a sentence each that begins
/// with `key`; empty: none. Allowed are NCCL_*, GLOO_*, TORCH_*, OMP_* and MKL_*, each once, with
/// values of one line.
std::vector<std::string> environmentMistakes(const std::vector<std::string>& environment,
                                             const std::string& key);

} // namespace rm
