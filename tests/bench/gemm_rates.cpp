// SPDX-License-Identifier: Apache-2.0
// gemm_rates: how fast each library multiplies the matrices of G1's model here, on one thread, and
// which of them the trainer has chosen. One line of JSON, in GFLOP/s.
#include "shared/io/clock.h"
#include "trainer/train/device/device.h"
#include "trainer/train/model/gemm.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/empty_like.h>
#include <ATen/ops/rand.h>

#include <algorithm>
#include <cstdio>
#include <limits>

namespace {

using rm::GemmLibrary;

constexpr int64_t kTokens = 1024, kWidth = 256, kWide = 1024;

/// Seconds of the three products that one weight takes part in; the best of some.
double secondsOf(GemmLibrary library) {
    const at::Tensor x = at::rand({kTokens, kWidth}), weight = at::rand({kWidth, kWide});
    const at::Tensor y = at::empty({kTokens, kWide});
    const at::Tensor ofX = at::empty_like(x), ofWeight = at::empty_like(weight);
    int64_t best = std::numeric_limits<int64_t>::max();
    for (int i = 0; i < 60; ++i) {
        const int64_t begin = rm::monotonicNowNs();
        rm::gemmBy(library, x, weight, y);
        rm::gemmBy(library, y, weight.t(), ofX);
        rm::gemmBy(library, x.t(), y, ofWeight);
        best = std::min(best, rm::monotonicNowNs() - begin);
    }
    return static_cast<double>(best) * 1e-9;
}

double rateOf(GemmLibrary library) {
    return 3 * 2.0 * kTokens * kWidth * kWide / secondsOf(library) * 1e-9;
}

} // namespace

int main() {
    rm::useCpu(1);
    const char* chosen = rm::gemmLibrary() == GemmLibrary::kOneDnn ? "oneDNN" : "ATen";
    std::printf("{\"chosen\": \"%s\", \"ATen\": %.1f, \"oneDNN\": %.1f}\n", chosen,
                rateOf(GemmLibrary::kAten), rateOf(GemmLibrary::kOneDnn));
    return 0;
}
