// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/store/log_search.h"

#include "app/core/findings/log_errors.h"
#include "app/core/store/log_severity.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

/// What a person looks for in logs, up to the first line break, and a line of a log behind it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string_view text = fuzz::text(data, size);
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(std::min(end + 1, text.size()));
    const LogSearch search(QString::fromUtf8(text.data(), static_cast<qsizetype>(end)));
    const auto hits = search.hits(line);
    RM_HOLDS(!search.matches(line) || search.isEmpty() == hits.empty());
    for (const auto& [begin, length] : hits)
        RM_HOLDS(length > 0 && begin + length <= line.size());
    static_cast<void>(search.expression());
    static_cast<void>(severityOf(line));
    static_cast<void>(knownErrorIn(line));
    return 0;
}
