// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/arguments.h"

#include <cuda_runtime_api.h>

/// The kernels as functions of the host. Each only queues work on `stream`, waits for nothing and
/// may be called while the stream is captured. Float32, bfloat16 and float16 only.
/// cudaErrorInvalidValue: a combination of types that no model uses.
namespace rm::fused {

/// The number of partial sums that addLayerNormBackward() writes: AddLayerNormBackward::teams.
int64_t normTeams(int64_t rows, int64_t columns, int multiprocessors);
/// The number that biasGeluBackward() writes: BiasGeluBackward::groups.
int64_t geluGroups(int64_t rows, int64_t columns, int multiprocessors);

cudaError_t addLayerNorm(const AddLayerNorm& a, cudaStream_t stream);
cudaError_t addLayerNormBackward(const AddLayerNormBackward& a, cudaStream_t stream);
cudaError_t biasGelu(const BiasGelu& a, cudaStream_t stream);
cudaError_t biasGeluBackward(const BiasGeluBackward& a, cudaStream_t stream);
cudaError_t columnSum(const ColumnSum& a, cudaStream_t stream);
cudaError_t crossEntropy(const CrossEntropy& a, cudaStream_t stream);

} // namespace rm::fused
