// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/trace_slices.h"

#include "shared/enforce.h"
#include "shared/return_if_error.h"

#include <optional>

namespace rm {

namespace {

constexpr uint8_t kFirstCollective = 32;
constexpr int64_t kMostNs = int64_t{1} << 62; ///< so that the end of a slice is a number, too

uint64_t foldSign(int64_t value) {
    return (static_cast<uint64_t>(value) << 1) ^ static_cast<uint64_t>(value >> 63);
}

int64_t unfoldSign(uint64_t value) {
    return static_cast<int64_t>((value >> 1) ^ (0 - (value & 1)));
}

/// The difference of two numbers, and the sum that undoes it, without overflow.
int64_t apart(int64_t value, int64_t from) {
    return static_cast<int64_t>(static_cast<uint64_t>(value) - static_cast<uint64_t>(from));
}

int64_t moved(int64_t from, int64_t by) {
    return static_cast<int64_t>(static_cast<uint64_t>(from) + static_cast<uint64_t>(by));
}

void appendNumber(std::vector<std::byte>& out, uint64_t value) {
    for (; value >= 0x80; value >>= 7)
        out.push_back(static_cast<std::byte>(value | 0x80));
    out.push_back(static_cast<std::byte>(value));
}

class NumberReader {
public:
    explicit NumberReader(std::span<const std::byte> bytes)
        : m_rest(bytes) {}

    bool isAtEnd() const { return m_rest.empty(); }
    size_t left() const { return m_rest.size(); }

    std::optional<uint64_t> next() {
        uint64_t value = 0;
        for (unsigned shift = 0; shift < 64 && !m_rest.empty(); shift += 7) {
            const auto byte = static_cast<uint64_t>(m_rest.front());
            m_rest = m_rest.subspan(1);
            if (shift == 63 && byte > 1)
                return std::nullopt;
            value |= (byte & 0x7f) << shift;
            if ((byte & 0x80) == 0)
                return value;
        }
        return std::nullopt;
    }

    /// Takes as many numbers as there are places; false: there are fewer.
    template <class... Places>
    bool read(Places&... places) {
        const auto one = [this](uint64_t& place) {
            const auto value = next();
            place = value.value_or(0);
            return value.has_value();
        };
        return (one(places) && ...);
    }

private:
    std::span<const std::byte> m_rest;
};

tl::unexpected<Error> brokenSlices(const char* why) {
    return fail(ErrorCode::kCorrupt, std::string("read the slices of a trace: ") + why);
}

/// Reads one slice, whose numbers count from those of `before`.
bool readSlice(NumberReader& numbers, const TraceSlice& before, TraceSlice& slice, bool& isOurs) {
    uint64_t kind = 0, step = 0, begin = 0, duration = 0, bytes = 0, number = 0;
    if (!numbers.read(kind, step, begin, duration) || kind > UINT8_MAX)
        return false;
    if (kind >= kFirstCollective && !numbers.read(bytes, number))
        return false;
    slice = {static_cast<TraceKind>(kind),
             moved(before.step, unfoldSign(step)),
             moved(before.beginNs, unfoldSign(begin)),
             static_cast<int64_t>(duration),
             static_cast<int64_t>(bytes),
             moved(before.number, unfoldSign(number))};
    isOurs = isKnown(slice.kind);
    return slice.durationNs >= 0 && slice.durationNs < kMostNs && slice.bytes >= 0 &&
           slice.beginNs > -kMostNs && slice.beginNs < kMostNs;
}

} // namespace

bool isKnown(TraceKind kind) {
    return kind <= TraceKind::kBoundary ||
           (kind >= TraceKind::kAllReduce && kind <= TraceKind::kAllGather);
}

bool isCollective(TraceKind kind) {
    return static_cast<uint8_t>(kind) >= kFirstCollective;
}

const char* traceKindName(TraceKind kind) {
    switch (kind) {
    case TraceKind::kStep:
        return "step";
    case TraceKind::kData:
        return "data";
    case TraceKind::kForward:
        return "forward";
    case TraceKind::kBackward:
        return "backward";
    case TraceKind::kAllReduceWait:
        return "all-reduce wait";
    case TraceKind::kOptimizer:
        return "optimizer";
    case TraceKind::kCheckpoint:
        return "checkpoint";
    case TraceKind::kValidation:
        return "validation";
    case TraceKind::kBoundary:
        return "between steps";
    case TraceKind::kAllReduce:
        return "all-reduce";
    case TraceKind::kReduceScatter:
        return "reduce-scatter";
    case TraceKind::kAllGather:
        return "all-gather";
    }
    return "unknown";
}

void appendTraceSlices(std::vector<std::byte>& out, std::span<const TraceSlice> slices) {
    RM_ENFORCE(slices.size() <= kMostSlicesOfRecord);
    appendNumber(out, slices.size());
    TraceSlice before;
    for (const TraceSlice& slice : slices) {
        appendNumber(out, static_cast<uint8_t>(slice.kind));
        appendNumber(out, foldSign(apart(slice.step, before.step)));
        appendNumber(out, foldSign(apart(slice.beginNs, before.beginNs)));
        appendNumber(out, static_cast<uint64_t>(slice.durationNs));
        const int64_t number = isCollective(slice.kind) ? slice.number : before.number;
        if (isCollective(slice.kind)) {
            appendNumber(out, static_cast<uint64_t>(slice.bytes));
            appendNumber(out, foldSign(apart(number, before.number)));
        }
        before = slice;
        before.number = number;
    }
}

Result<std::vector<TraceSlice>> readTraceSlices(std::span<const std::byte> blocks) {
    constexpr size_t kLeastBytes = 4; // of a slice
    std::vector<TraceSlice> slices;
    NumberReader numbers(blocks);
    while (!numbers.isAtEnd()) {
        const auto count = numbers.next();
        if (!count || *count > kMostSlicesOfRecord || *count > numbers.left() / kLeastBytes)
            return brokenSlices("a block has another number of them than it says");
        TraceSlice before;
        for (uint64_t i = 0; i < *count; ++i) {
            TraceSlice slice;
            bool isOurs = false;
            if (!readSlice(numbers, before, slice, isOurs))
                return brokenSlices("a number is missing or impossible");
            before = slice;
            if (!isCollective(slice.kind))
                slice.number = 0;
            if (isOurs)
                slices.push_back(slice);
        }
    }
    return slices;
}

} // namespace rm
