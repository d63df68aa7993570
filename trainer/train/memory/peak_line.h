// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/memory/allocation_trace.h"

namespace rm {

/// The most memory that a step takes at once, for any number of samples, from its traces at two
/// numbers.
///
/// A step does the same things in the same order whatever it is given, and each block that it
/// allocates is either as large always or grows in proportion. So the memory at each *moment* of
/// the step is a straight line over the samples, while the peak, the highest of many such lines, is
/// not: with few samples it lies where all gradients are there, with many where all activations
/// are. Hence the two traces are laid side by side, moment by moment. Where one of them does more
/// (a loop over chunks that goes on for longer) both are followed to where they agree again.
class PeakLine {
public:
    /// `more` > `few` samples.
    PeakLine(const MemoryTrace& traceOfFew, int64_t few, const MemoryTrace& traceOfMore,
             int64_t more);

    /// Bytes at the peak, above what was there before the step.
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
