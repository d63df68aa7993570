// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/dtypes.h"

namespace rm {
namespace {

struct Row {
    const char* name;
    at::ScalarType type;
};

constexpr Row kRows[] = {
    {"F64", at::kDouble}, {"F32", at::kFloat}, {"F16", at::kHalf}, {"BF16", at::kBFloat16},
    {"I64", at::kLong},   {"I32", at::kInt},   {"U8", at::kByte},  {"BOOL", at::kBool},
};

} // namespace

std::optional<at::ScalarType> scalarTypeOf(const std::string& safetensorsDtype) {
    for (const Row& row : kRows)
        if (safetensorsDtype == row.name)
            return row.type;
    return std::nullopt;
}

const char* safetensorsDtype(at::ScalarType type) {
    for (const Row& row : kRows)
        if (type == row.type)
            return row.name;
    return nullptr;
}

} // namespace rm
