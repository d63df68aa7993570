// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/formats/weights.h"

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <span>
#include <string>

namespace rm {

/// The two forms in which torch.save() writes: a zip archive, and, before torch 1.6, pickles one
/// behind the other. In either the state dict may lie under "state_dict", "model_state_dict" or
/// "model". These run torch::jit::Unpickler and caffe2's archive reader in this process; see
/// readTorchFile() for the way to open what comes from elsewhere.
///
/// Nothing in a file is executed: see toPlainPickle(). Every tensor is checked to lie within the
/// bytes of its storage. kCorrupt / kInvalid name `source`; kExhausted when an archive's records
/// would unpack to more than `maxBytes`.

Result<Weights> readTorchArchive(std::istream& in, const std::string& source, uint64_t maxBytes);
Result<Weights> readTorchPickles(std::span<const std::byte> file, const std::string& source);

/// Whether a file begins as the older form does.
bool beginsAsTorchPickles(std::span<const std::byte> file);

} // namespace rm
