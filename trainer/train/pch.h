// SPDX-License-Identifier: Apache-2.0
// Precompiled: what most of the trainer's files need of LibTorch. <torch/torch.h> is in none.
#pragma once

#include <ATen/core/Generator.h>
#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>
