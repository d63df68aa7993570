// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

/// The arithmetic of the kernels is written once, for nvcc and for the host's compiler: a host test
/// runs the very lines that the GPU runs, in float64 if it likes.
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

/// In what numbers of type T are summed: float for everything up to float, double for double.
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

/// kWidth neighbours in memory, moved by one instruction where the hardware has it. On the host too
/// it may lie over any T (may_alias).
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
