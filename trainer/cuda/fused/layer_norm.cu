// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/fused/cuda_launch.h"
#include "trainer/cuda/fused/cuda_teams.cuh"
#include "trainer/cuda/fused/layer_norm.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <algorithm>

namespace rm::fused {
namespace {

constexpr int kWarpsPerBlock = 4;
/// Teams per multiprocessor in the backward pass; more would make the final sums longer.
constexpr int kWarpTeamsPerProcessor = 16;
constexpr int kBlockTeamsPerProcessor = 2;

template <int kItems, int kWidth, class Delta, class Normed>
__global__ void __launch_bounds__(kWarpLanes* kWarpsPerBlock) byWarp(AddLayerNorm a) {
    const int64_t row = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.y;
    if (row < a.rows)
        addLayerNormRow<kItems, kWidth, float, Delta, Normed>(WarpTeam(), a, row);
}

template <int kItems, int kWidth, class Delta, class Normed>
__global__ void __launch_bounds__(kBlockLanes) byBlock(AddLayerNorm a) {
    using Team = BlockTeam<kBlockLanes, float>;
    __shared__ typename Team::Scratch scratch;
    addLayerNormRow<kItems, kWidth, float, Delta, Normed>(Team(scratch), a, blockIdx.x);
}

template <int kItems, int kWidth, class Delta, class Normed>
__global__ void __launch_bounds__(kWarpLanes* kWarpsPerBlock) byWarp(AddLayerNormBackward a) {
    const int64_t team = static_cast<int64_t>(blockIdx.x) * kWarpsPerBlock + threadIdx.y;
    if (team < a.teams)
        addLayerNormBackwardRows<kItems, kWidth, float, Delta, Normed>(WarpTeam(), a, team,
                                                                       a.teams);
}

template <int kItems, int kWidth, class Delta, class Normed>
__global__ void __launch_bounds__(kBlockLanes) byBlock(AddLayerNormBackward a) {
    using Team = BlockTeam<kBlockLanes, float>;
    __shared__ typename Team::Scratch scratch;
    addLayerNormBackwardRows<kItems, kWidth, float, Delta, Normed>(Team(scratch), a, blockIdx.x,
                                                                   a.teams);
}

int64_t teamsOf(const AddLayerNorm& a) {
    return a.rows;
}
int64_t teamsOf(const AddLayerNormBackward& a) {
    return a.teams;
}

template <int kItems, int kWidth, class Delta, class Normed, class Arguments>
void launch(const Arguments& a, int lanes, cudaStream_t stream) {
    const int64_t teams = teamsOf(a);
    if (lanes == kWarpLanes) {
        const auto blocks = static_cast<unsigned>((teams + kWarpsPerBlock - 1) / kWarpsPerBlock);
        byWarp<kItems, kWidth, Delta, Normed>
            <<<blocks, dim3(kWarpLanes, kWarpsPerBlock), 0, stream>>>(a);
    } else if constexpr (kItems == kMostItems) {
        byBlock<kItems, kWidth, Delta, Normed>
            <<<static_cast<unsigned>(teams), kBlockLanes, 0, stream>>>(a);
    }
}

template <int kWidth, class Delta, class Normed, class Arguments>
cudaError_t launchPlanned(const Arguments& a, const RowPlan& plan, cudaStream_t stream) {
    switch (plan.items) {
    case 8:
        launch<8, kWidth, Delta, Normed>(a, plan.lanes, stream);
        break;
    case 16:
        launch<16, kWidth, Delta, Normed>(a, plan.lanes, stream);
        break;
    case 24:
        launch<24, kWidth, Delta, Normed>(a, plan.lanes, stream);
        break;
    case kMostItems:
        launch<kMostItems, kWidth, Delta, Normed>(a, plan.lanes, stream);
        break;
    default:
        return cudaErrorInvalidValue;
    }
    return cudaGetLastError();
}

template <class Delta, class Normed, class Arguments>
cudaError_t launchTyped(const Arguments& a, cudaStream_t stream) {
    const RowPlan plan = planRow(a.columns, /*aligned=*/true);
    return plan.width == 1 ? launchPlanned<1, Delta, Normed>(a, plan, stream)
                           : launchPlanned<kPackWidth, Delta, Normed>(a, plan, stream);
}

template <class Arguments>
cudaError_t dispatch(const Arguments& a, cudaStream_t stream) {
    const bool widely = a.normedAs == Number::kFloat;
    if (a.wide != Number::kFloat || (!widely && a.normedAs != a.narrow))
        return cudaErrorInvalidValue;
    switch (a.narrow) {
    case Number::kFloat:
        return launchTyped<float, float>(a, stream);
    case Number::kBFloat16:
        return widely ? launchTyped<__nv_bfloat16, float>(a, stream)
                      : launchTyped<__nv_bfloat16, __nv_bfloat16>(a, stream);
    case Number::kHalf:
        return widely ? launchTyped<__half, float>(a, stream)
                      : launchTyped<__half, __half>(a, stream);
    case Number::kDouble:
        break;
    }
    return cudaErrorInvalidValue;
}

} // namespace

int64_t normTeams(int64_t rows, int64_t columns, int multiprocessors) {
    const bool warps = planRow(columns, true).lanes == kWarpLanes;
    const int perProcessor = warps ? kWarpTeamsPerProcessor : kBlockTeamsPerProcessor;
    return std::min<int64_t>(rows, static_cast<int64_t>(multiprocessors) * perProcessor);
}

cudaError_t addLayerNorm(const AddLayerNorm& a, cudaStream_t stream) {
    return dispatch(a, stream);
}

cudaError_t addLayerNormBackward(const AddLayerNormBackward& a, cudaStream_t stream) {
    return dispatch(a, stream);
}

} // namespace rm::fused
