// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>

namespace rm {

/// ATen's type for a safetensors dtype such as "BF16"; nullopt: we do not read that dtype.
std::optional<at::ScalarType> scalarTypeOf(const std::string& safetensorsDtype);

/// The dtype as safetensors spells it; nullptr: the format, or our part of it, has none.
const char* safetensorsDtype(at::ScalarType type);

} // namespace rm
