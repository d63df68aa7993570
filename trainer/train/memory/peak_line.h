// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/memory/allocation_trace.h"

namespace rm {

/// The peak memory of a step for any number of samples, from its traces at two numbers.
///
/// A step does the same things in the same order for any number of samples, and each block that it
/// allocates has either a constant size or one proportional to the samples. So the memory at each
/// moment of the step is linear in the samples. The peak, the maximum over all moments, is not:
/// with few samples it is when all gradients exist, with many when all activations do. Hence the
/// two traces are aligned moment by moment. If one of them does more (a loop over more chunks),
/// both are followed to where they agree again.
class PeakLine {
public:
    /// `more` > `few` samples.
    PeakLine(const MemoryTrace& traceOfFew, int64_t few, const MemoryTrace& traceOfMore,
             int64_t more);

    /// Bytes at the peak, above those before the step.
    int64_t at(int64_t samples) const;

private:
    struct Moment {
        int64_t few = 0;
        int64_t more = 0;
    };

    int64_t m_few;
    int64_t m_more;
    std::vector<Moment> m_moments;
};

} // namespace rm
