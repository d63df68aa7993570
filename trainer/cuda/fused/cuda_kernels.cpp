// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/fused/cuda_kernels.h"

#include "trainer/cuda/fused/cuda_launch.h"
#include "trainer/cuda/fused/functions.h"

#include <ATen/cuda/CUDAContext.h>
#include <ATen/ops/addmm.h>
#include <c10/cuda/CUDAException.h>

namespace rm {
namespace {

constexpr int kFirstCapability = 8; ///< sm_80, the oldest that the kernels are compiled for

struct CudaKernels {
    /// Large enough for whole matrix products, small beside the activations of a batch.
    static constexpr int64_t kChunkBytes = int64_t{256} << 20;

    static bool covers(at::ScalarType type) {
        return type == at::kFloat || type == at::kBFloat16 || type == at::kHalf;
    }
    static int multiprocessors() {
        return at::cuda::getCurrentDeviceProperties()->multiProcessorCount;
    }
    static int64_t normTeams(const at::Tensor&, int64_t rows, int64_t columns) {
        return fused::normTeams(rows, columns, multiprocessors());
    }
    static int64_t geluGroups(const at::Tensor&, int64_t rows, int64_t columns) {
        return fused::geluGroups(rows, columns, multiprocessors());
    }
    static cudaStream_t stream() { return at::cuda::getCurrentCUDAStream(); }
    static void run(const fused::AddLayerNorm& a) {
        C10_CUDA_CHECK(fused::addLayerNorm(a, stream()));
    }
    static void run(const fused::AddLayerNormBackward& a) {
        C10_CUDA_CHECK(fused::addLayerNormBackward(a, stream()));
    }
    static void run(const fused::BiasGelu& a) { C10_CUDA_CHECK(fused::biasGelu(a, stream())); }
    static void run(const fused::BiasGeluBackward& a) {
        C10_CUDA_CHECK(fused::biasGeluBackward(a, stream()));
    }
    static void run(const fused::ColumnSum& a) { C10_CUDA_CHECK(fused::columnSum(a, stream())); }
    static void run(const fused::CrossEntropy& a) {
        C10_CUDA_CHECK(fused::crossEntropy(a, stream()));
    }
    static void accumulate(at::Tensor& c, const at::Tensor& a, const at::Tensor& b) {
        if (a.scalar_type() == c.scalar_type())
            at::addmm_out(c, c, a, b);
        else
            at::addmm_out(c, c, a, b, c.scalar_type()); // narrow inputs, wide sums
    }
};

} // namespace

const FusedOps* cudaFusedOps() {
    if (at::cuda::getCurrentDeviceProperties()->major < kFirstCapability)
        return nullptr;
    return &fused::fusedOps<CudaKernels>();
}

} // namespace rm
