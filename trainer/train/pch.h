// SPDX-License-Identifier: Apache-2.0
// Precompiled headers for most of the trainer's files. No file includes <torch/torch.h>.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>
