// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string_view>

namespace rm {

/// The compute capability of an NVIDIA GPU, 80 for 8.0, by the name that Slurm has for it: a
/// person's ("v100", "rtx3090") or NVML's ("nvidia_a100-sxm4-80gb", "tesla_v100-pcie-32gb"). 0: it
/// names no model of https://developer.nvidia.com/cuda-gpus or cuda-legacy-gpus that is known here,
/// or several of different capabilities ("rtx_6000", of Turing and of Ada).
int capabilityOfModel(std::string_view name);

} // namespace rm
