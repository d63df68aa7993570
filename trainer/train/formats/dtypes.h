// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <c10/core/ScalarType.h>

#include <optional>
#include <string>

namespace rm {

/// What a safetensors dtype such as "BF16" is here; nullopt: one that we do not read.
std::optional<at::ScalarType> scalarTypeOf(const std::string& safetensorsDtype);

/// The safetensors spelling; nullptr: the format, or our part of it, has none.
const char* safetensorsDtype(at::ScalarType type);

} // namespace rm
