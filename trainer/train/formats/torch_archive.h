// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/formats/weights.h"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

namespace rm {

/// The two formats of torch.save(): a zip archive or, before torch 1.6, consecutive pickles. In
/// both the state dict may be stored under "state_dict", "model_state_dict" or "model". These
/// functions run torch::jit::Unpickler and caffe2's archive reader in this process; use
/// readTorchFile() for untrusted files.
///
/// No code in a file is executed: see toPlainPickle(). Checks that every tensor lies within its
/// storage. kCorrupt / kInvalid name `source`; kExhausted when an archive's records would unpack to
/// more than `maxBytes`.

Result<Weights> readTorchArchive(std::istream& in, const std::string& source, uint64_t maxBytes);
Result<Weights> readTorchPickles(std::span<const std::byte> file, const std::string& source);

/// Whether a file begins as the older form does.
bool beginsAsTorchPickles(std::span<const std::byte> file);

} // namespace rm
