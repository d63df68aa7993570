// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/cuda/fused/row_slice.h"

/// Teams of threads that work on one row together, as used by the row functions.
namespace rm::fused {

struct Add {
    template <class T>
    __device__ __forceinline__ T operator()(T a, T b) const {
        return a + b;
    }
};
struct Larger {
    template <class T>
    __device__ __forceinline__ T operator()(T a, T b) const {
        return a > b ? a : b;
    }
};

template <class T, class Combine>
__device__ __forceinline__ T overWarp(T value, const Combine& combine) {
    for (int distance = kWarpLanes / 2; distance > 0; distance /= 2)
        value = combine(value, __shfl_xor_sync(0xffffffffU, value, distance));
    return value;
}

/// The 32 threads of a warp; threadIdx.y tells the warps of a block apart.
class WarpTeam {
public:
    __device__ __forceinline__ int lane() const { return static_cast<int>(threadIdx.x); }
    __device__ __forceinline__ int lanes() const { return kWarpLanes; }
    template <class T>
    __device__ __forceinline__ T sum(T value) const {
        return overWarp(value, Add());
    }
};

/// All threads of a block of kLanes.
template <int kLanes, class Acc>
class BlockTeam {
public:
    using Scratch = Acc[kLanes / kWarpLanes];

    /// `scratch` lies in shared memory.
    __device__ __forceinline__ explicit BlockTeam(Acc* scratch)
        : m_scratch(scratch) {}

    __device__ __forceinline__ int lane() const { return static_cast<int>(threadIdx.x); }
    __device__ __forceinline__ int lanes() const { return kLanes; }
    __device__ __forceinline__ void sync() const { __syncthreads(); }
    __device__ __forceinline__ Acc sum(Acc value) const { return over(value, Add()); }
    __device__ __forceinline__ Acc max(Acc value) const { return over(value, Larger()); }

private:
    template <class Combine>
    __device__ __forceinline__ Acc over(Acc value, const Combine& combine) const {
        const Acc ofWarp = overWarp(value, combine);
        __syncthreads(); // the scratch of the last call has been read
        if (lane() % kWarpLanes == 0)
            m_scratch[lane() / kWarpLanes] = ofWarp;
        __syncthreads();
        Acc total = m_scratch[0];
        RM_UNROLL
        for (int warp = 1; warp < kLanes / kWarpLanes; ++warp)
            total = combine(total, m_scratch[warp]);
        return total;
    }

    Acc* m_scratch;
};

} // namespace rm::fused
