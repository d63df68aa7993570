// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/journal/journal.h"

#include <string>

namespace rm {

/// Prints `message` and ends the program: a bench has nobody to tell.
[[noreturn]] void giveUp(const std::string& message);

/// A journal in a folder of its own under $TMPDIR, removed at the end. Failures end the program.
class ScratchJournal {
public:
    ScratchJournal();
    ~ScratchJournal();
    ScratchJournal(const ScratchJournal&) = delete;
    ScratchJournal& operator=(const ScratchJournal&) = delete;

    const std::string& folder() const { return m_folder; }
    JournalWriter open() const;

    /// Scalars that can be read back.
    int64_t rows() const;

private:
    std::string m_folder;
    std::string m_file;
};

} // namespace rm
