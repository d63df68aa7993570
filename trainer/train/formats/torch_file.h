// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/formats/weights.h"

#include <string>

namespace rm {

/// Whether a file begins as torch.save() writes: a zip archive or, before torch 1.6, pickles.
bool looksLikeTorchFile(const std::string& path);

/// The state dict in a file of torch.save(), read by a separate process (this program with the
/// subcommand `unpack`) with limited memory, output and time. Whatever the file holds, this process
/// gets either tensors that our safetensors reader accepted or an error that names the file. Needs
/// room for the weights in $TMPDIR (/tmp).
Result<Weights> readTorchFile(const std::string& path);

/// The part of the other process: limits its own resources, then writes the state dict in `path` to
/// `out` as safetensors.
Result<void> unpackTorchFile(const std::string& path, const std::string& out);

} // namespace rm
