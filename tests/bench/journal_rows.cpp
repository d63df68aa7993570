// SPDX-License-Identifier: Apache-2.0
#include "tests/bench/journal_rows.h"

#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace rm {

void giveUp(const std::string& message) {
    std::fprintf(stderr, "%s\n", message.c_str());
    std::exit(1);
}

ScratchJournal::ScratchJournal() {
    m_folder = std::filesystem::temp_directory_path() / "rm-bench-XXXXXX";
    if (!mkdtemp(m_folder.data()))
        giveUp("make " + m_folder + ": not possible");
    m_file = m_folder + "/rank-00000.rmj";
}

ScratchJournal::~ScratchJournal() {
    std::error_code ignored;
    std::filesystem::remove_all(m_folder, ignored);
}

JournalWriter ScratchJournal::open() const {
    auto writer = JournalWriter::open(m_file);
    if (!writer)
        giveUp(writer.error().message);
    return std::move(*writer);
}

int64_t ScratchJournal::rows() const {
    const auto records = readJournal(m_file);
    if (!records)
        giveUp(records.error().message);
    int64_t rows = 0;
    for (const Record& record : *records)
        if (const auto* samples = std::get_if<Samples>(&record))
            rows += static_cast<int64_t>(samples->value.size());
    return rows;
}

} // namespace rm
