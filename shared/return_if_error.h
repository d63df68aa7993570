// SPDX-License-Identifier: Apache-2.0
// Hands an error on to the caller as it is, in one line; named as Abseil and Arrow name theirs.
// failAs() is for an error that the caller should hear more of.
#pragma once

#include "shared/result.h"

#include <utility>

/// `RM_RETURN_IF_ERROR(writer.flush());`: returns the error of a Result<T>, or goes on. A value is
/// dropped.
#define RM_RETURN_IF_ERROR(...)                                                                    \
    if (auto rmResult = (__VA_ARGS__); !rmResult)                                                  \
    return tl::unexpected(std::move(rmResult).error())

/// `RM_ASSIGN_OR_RETURN(const auto text, readFile(path));`: returns the error of a Result<T>, or
/// declares, or assigns to, the first argument what the Result holds. Two statements: it needs
/// braces in an `if` or a loop. No comma in the first argument.
#define RM_ASSIGN_OR_RETURN(declaration, ...)                                                      \
    RM_ASSIGN_OR_RETURN_FROM(RM_ON_LINE(rmResult, __LINE__), declaration, __VA_ARGS__)

#define RM_ASSIGN_OR_RETURN_FROM(result, declaration, ...)                                         \
    auto result = (__VA_ARGS__);                                                                   \
    if (!result)                                                                                   \
        return tl::unexpected(std::move(result).error());                                          \
    declaration = *std::move(result)
#define RM_ON_LINE(name, line) RM_ON_LINE_NOW(name, line)
#define RM_ON_LINE_NOW(name, line) name##line
