// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/fused/cross_entropy.h"
#include "trainer/cuda/fused/cuda_launch.h"
#include "trainer/cuda/fused/cuda_teams.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

namespace rm::fused {
namespace {

constexpr int kLanes = 512;

template <class T>
__global__ void __launch_bounds__(kLanes) byBlock(CrossEntropy a) {
    using Team = BlockTeam<kLanes, float>;
    __shared__ typename Team::Scratch scratch;
    crossEntropyRow<T>(Team(scratch), a, blockIdx.x);
}

template <class T>
cudaError_t launch(const CrossEntropy& a, cudaStream_t stream) {
    byBlock<T><<<static_cast<unsigned>(a.rows), kLanes, 0, stream>>>(a);
    return cudaGetLastError();
}

} // namespace

cudaError_t crossEntropy(const CrossEntropy& a, cudaStream_t stream) {
    switch (a.number) {
    case Number::kFloat:
        return launch<float>(a, stream);
    case Number::kBFloat16:
        return launch<__nv_bfloat16>(a, stream);
    case Number::kHalf:
        return launch<__half>(a, stream);
    case Number::kDouble:
        break;
    }
    return cudaErrorInvalidValue;
}

} // namespace rm::fused
