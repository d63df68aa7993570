// SPDX-License-Identifier: Apache-2.0
#include "shared/journal/segment.h"

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <filesystem>

namespace rm {

namespace {

constexpr std::string_view kFolder = "journal/";
constexpr std::string_view kEnding = ".rmj";

std::string numbered(const char* format, int number) {
    char text[32];
    std::snprintf(text, sizeof text, format, number);
    return text;
}

/// Reads MARK and digits of that base off the front; nullopt: they are not there.
template <class Int>
std::optional<Int> take(std::string_view& text, std::string_view mark, int base = 10) {
    if (!text.starts_with(mark))
        return std::nullopt;
    text.remove_prefix(mark.size());
    Int value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value, base);
    if (error != std::errc() || value < Int{0})
        return std::nullopt;
    text.remove_prefix(static_cast<size_t>(stop - text.data()));
    return value;
}

} // namespace

std::string rankName(int rank) {
    return numbered("rank-%05d", rank);
}

std::string nodeName(int nodeIndex) {
    return numbered("node-%05d", nodeIndex);
}

std::string rankLogName(int rank) {
    return rankName(rank) + ".log";
}

std::string Segment::fileName() const {
    std::string name = source;
    if (attempt > 0) {
        char text[48];
        std::snprintf(text, sizeof text, "-a%05d-s%04d-%08x", attempt, number, epoch);
        name += text;
    }
    return name.append(kEnding);
}

std::string Segment::path() const {
    return std::string(kFolder) + fileName();
}

std::optional<Segment> parseSegmentPath(std::string_view path) {
    return path.starts_with(kFolder) ? parseSegment(path.substr(kFolder.size())) : std::nullopt;
}

std::optional<Segment> parseSegment(std::string_view fileName) {
    if (!fileName.ends_with(kEnding))
        return std::nullopt;
    std::string_view rest = fileName.substr(0, fileName.size() - kEnding.size());
    const bool isRank = rest.starts_with("rank-");
    const auto number = take<int>(rest, isRank ? "rank-" : "node-");
    if (!number)
        return std::nullopt;
    Segment segment{isRank ? rankName(*number) : nodeName(*number)};
    if (!rest.empty()) {
        const auto attempt = take<int>(rest, "-a");
        const auto part = attempt ? take<int>(rest, "-s") : std::nullopt;
        const auto epoch = part ? take<uint32_t>(rest, "-", 16) : std::nullopt;
        if (!epoch || *attempt == 0)
            return std::nullopt;
        segment.attempt = *attempt;
        segment.number = *part;
        segment.epoch = *epoch;
    }
    // Only one text names a segment.
    return segment.fileName() == fileName ? std::optional(segment) : std::nullopt;
}

std::vector<Segment> listSegments(const std::string& folder, const std::string& source) {
    std::vector<Segment> found;
    std::error_code error;
    std::filesystem::directory_iterator entries(folder, error), end;
    for (; !error && entries != end; entries.increment(error)) {
        auto segment = parseSegment(entries->path().filename().string());
        if (segment && segment->source == source)
            found.push_back(std::move(*segment));
    }
    std::ranges::sort(found);
    return found;
}

} // namespace rm
