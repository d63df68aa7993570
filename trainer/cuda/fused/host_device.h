// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The arithmetic of the kernels is written once, for nvcc and the host's compiler, so that a test
/// on the host runs the same code as the GPU, also in float64.
#if defined(__CUDACC__)
#define RM_HD __host__ __device__ __forceinline__
#define RM_MAY_ALIAS
#else
#define RM_HD inline
#define RM_MAY_ALIAS __attribute__((may_alias))
#endif
#if defined(__CUDA_ARCH__)
#define RM_UNROLL _Pragma("unroll")
#else
#define RM_UNROLL
#endif

namespace rm::fused {

/// The type in which values of type T are summed: double for double, else float.
template <class T>
struct AccumulatorOf {
    using Type = float;
};
template <>
struct AccumulatorOf<double> {
    using Type = double;
};
template <class T>
using Accumulator = typename AccumulatorOf<T>::Type;

/// kWidth neighbours in memory, moved by one instruction if the hardware has one. may_alias: on the
/// host it may overlay any T.
template <class T, int kWidth>
struct RM_MAY_ALIAS Pack {
    alignas(sizeof(T) * kWidth) T values[kWidth];
};

/// `from` must be aligned to a Pack<T, kWidth>.
template <int kWidth, class T, class Acc>
RM_HD void load(const T* from, Acc* to) {
    const Pack<T, kWidth> pack = *reinterpret_cast<const Pack<T, kWidth>*>(from);
    RM_UNROLL
    for (int i = 0; i < kWidth; ++i)
        to[i] = static_cast<Acc>(pack.values[i]);
}

/// The inverse of load(); rounds to T.
template <int kWidth, class T, class Acc>
RM_HD void store(const Acc* from, T* to) {
    Pack<T, kWidth> pack;
    RM_UNROLL
    for (int i = 0; i < kWidth; ++i)
        pack.values[i] = static_cast<T>(from[i]);
    *reinterpret_cast<Pack<T, kWidth>*>(to) = pack;
}

} // namespace rm::fused
