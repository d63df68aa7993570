// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// Arguments of the kernels. Arrays are dense and row-major; a null pointer means that an array is
/// not wanted. Their types are those of the Number fields.
namespace rm::fused {

enum class Number { kFloat, kBFloat16, kHalf, kDouble };

struct AddLayerNorm {
    int64_t rows = 0;
    int64_t columns = 0; ///< at most kLongestRow
    double eps = 0;
    Number wide = Number::kFloat;     ///< type of all arrays but delta and normed
    Number narrow = Number::kFloat;   ///< type of delta
    Number normedAs = Number::kFloat; ///< type of normed: that of `wide` or of `narrow`
    const void* residual = nullptr;   ///< (rows, columns)
    const void* delta = nullptr;      ///< (rows, columns)
    const void* weight = nullptr;     ///< (columns)
    const void* bias = nullptr;       ///< (columns)
    void* sum = nullptr;              ///< (rows, columns)
    void* normed = nullptr;           ///< (rows, columns)
    void* mean = nullptr;             ///< (rows)
    void* rstd = nullptr;             ///< (rows)
};

struct AddLayerNormBackward {
    int64_t rows = 0;
    int64_t columns = 0;
    Number wide = Number::kFloat;
    Number narrow = Number::kFloat;
    Number normedAs = Number::kFloat;
    const void* dNormed = nullptr; ///< (rows, columns), type normedAs
    const void* dSum = nullptr;    ///< (rows, columns), or null: zero
    const void* sum = nullptr;
    const void* weight = nullptr;
    const void* mean = nullptr;
    const void* rstd = nullptr;
    void* dResidual = nullptr;      ///< (rows, columns)
    void* dDelta = nullptr;         ///< (rows, columns), type narrow; null: as dResidual
    void* weightPartials = nullptr; ///< (teams, columns), see column_sum.h
    void* biasPartials = nullptr;   ///< (teams, columns)
    int64_t teams = 0;              ///< at most rows
};

struct BiasGelu {
    int64_t rows = 0;
    int64_t columns = 0;
    Number number = Number::kFloat;     ///< type of x and y
    Number biasNumber = Number::kFloat; ///< float, or double with double
    const void* x = nullptr;            ///< (rows, columns)
    const void* bias = nullptr;         ///< (columns)
    void* y = nullptr;                  ///< (rows, columns)
};

struct BiasGeluBackward {
    int64_t rows = 0;
    int64_t columns = 0;
    Number number = Number::kFloat;
    Number biasNumber = Number::kFloat;
    const void* x = nullptr;
    const void* bias = nullptr;
    const void* dy = nullptr;     ///< (rows, columns)
    void* dx = nullptr;           ///< (rows, columns)
    void* biasPartials = nullptr; ///< (groups, columns), float or double
    int64_t groups = 0;           ///< at most rows
};

struct ColumnSum {
    int64_t groups = 0;
    int64_t columns = 0;
    Number number = Number::kFloat; ///< float or double
    const void* partials = nullptr; ///< (groups, columns)
    void* totals = nullptr;         ///< (columns)
};

struct CrossEntropy {
    int64_t rows = 0;
    int64_t classes = 0;
    int64_t rowLength = 0; ///< elements from one row of logits to the next: a multiple of 16
    int64_t ignoreIndex = -100;
    double labelSmoothing = 0;
    Number number = Number::kFloat;   ///< type of logits
    void* logits = nullptr;           ///< (rows, rowLength); becomes the gradient if `scale`
    const void* bias = nullptr;       ///< (classes), float or double: added to each row; or null
    const int64_t* targets = nullptr; ///< (rows)
    void* losses = nullptr;           ///< (rows), float or double
    const void* scale = nullptr;      ///< (1), float or double: the gradient's factor; null: none
};

} // namespace rm::fused
