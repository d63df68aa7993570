// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/fused/column_sum.h"
#include "trainer/cuda/fused/cuda_launch.h"
#include "trainer/cuda/fused/gelu.h"
#include "trainer/cuda/fused/row_slice.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

namespace rm::fused {
namespace {

constexpr int kLanes = 256;
constexpr int kBlocksPerProcessor = 8;
constexpr int kSumColumns = 32; ///< columns that a block of columnSum() adds up

template <int kWidth>
__device__ __forceinline__ int64_t myColumn() {
    return (static_cast<int64_t>(blockIdx.x) * kLanes + threadIdx.x) * kWidth;
}

template <int kWidth, class T>
__global__ void __launch_bounds__(kLanes) apply(BiasGelu a) {
    const int64_t column = myColumn<kWidth>();
    if (column < a.columns)
        biasGeluColumns<kWidth, T, float>(a, column, blockIdx.y, gridDim.y);
}

template <int kWidth, class T>
__global__ void __launch_bounds__(kLanes) apply(BiasGeluBackward a) {
    const int64_t column = myColumn<kWidth>();
    if (column < a.columns)
        biasGeluBackwardColumns<kWidth, T, float>(a, column, blockIdx.y, gridDim.y);
}

__global__ void __launch_bounds__(kSumColumns* kSumLanes) sumColumns(ColumnSum a) {
    __shared__ float shares[kSumLanes][kSumColumns];
    const int64_t column = static_cast<int64_t>(blockIdx.x) * kSumColumns + threadIdx.x;
    const bool inside = column < a.columns;
    const int lane = static_cast<int>(threadIdx.y);
    shares[lane][threadIdx.x] = inside ? columnShare<float>(a, column, lane) : 0.0F;
    __syncthreads();
    if (lane == 0 && inside)
        storeColumn(a, column, &shares[0][threadIdx.x], kSumColumns);
}

int widthFor(int64_t columns) {
    return columns % kPackWidth == 0 ? kPackWidth : 1;
}

unsigned columnBlocks(int64_t columns) {
    const int64_t perBlock = int64_t{kLanes} * widthFor(columns);
    return static_cast<unsigned>((columns + perBlock - 1) / perBlock);
}

template <class T, class Arguments>
cudaError_t launch(const Arguments& a, int64_t groups, cudaStream_t stream) {
    const dim3 blocks(columnBlocks(a.columns), static_cast<unsigned>(groups));
    if (widthFor(a.columns) == 1)
        apply<1, T><<<blocks, kLanes, 0, stream>>>(a);
    else
        apply<kPackWidth, T><<<blocks, kLanes, 0, stream>>>(a);
    return cudaGetLastError();
}

template <class Arguments>
cudaError_t dispatch(const Arguments& a, int64_t groups, cudaStream_t stream) {
    if (a.biasNumber != Number::kFloat)
        return cudaErrorInvalidValue;
    switch (a.number) {
    case Number::kFloat:
        return launch<float>(a, groups, stream);
    case Number::kBFloat16:
        return launch<__nv_bfloat16>(a, groups, stream);
    case Number::kHalf:
        return launch<__half>(a, groups, stream);
    case Number::kDouble:
        break;
    }
    return cudaErrorInvalidValue;
}

} // namespace

int64_t geluGroups(int64_t rows, int64_t columns, int multiprocessors) {
    const int64_t wanted = int64_t{multiprocessors} * kBlocksPerProcessor / columnBlocks(columns);
    return std::clamp<int64_t>(wanted, 1, rows);
}

cudaError_t biasGelu(const BiasGelu& a, cudaStream_t stream) {
    constexpr int64_t kMostBlocks = 65535; // the limit of a grid's second dimension
    return dispatch(a, std::min(a.rows, kMostBlocks), stream);
}

cudaError_t biasGeluBackward(const BiasGeluBackward& a, cudaStream_t stream) {
    return dispatch(a, a.groups, stream);
}

cudaError_t columnSum(const ColumnSum& a, cudaStream_t stream) {
    if (a.number != Number::kFloat)
        return cudaErrorInvalidValue;
    const auto blocks = static_cast<unsigned>((a.columns + kSumColumns - 1) / kSumColumns);
    sumColumns<<<blocks, dim3(kSumColumns, kSumLanes), 0, stream>>>(a);
    return cudaGetLastError();
}

} // namespace rm::fused
