// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/applied_commands.h"

#include "trainer/agent/peers/crew.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

namespace rm {

namespace {

constexpr uint64_t kBlock = 1 << 20;

bool isAboutHolding(const CommandApplied& applied) {
    const auto kind = commandKindNamed(applied.kind);
    return applied.ok && kind && rowOf(*kind).isAboutHolding;
}

/// The end of a run that a person brought about with it; nullopt: it ends none.
std::optional<Outcome> endingBy(const CommandApplied& applied) {
    const auto kind = commandKindNamed(applied.kind);
    if (!applied.ok || !kind || applied.id.starts_with(kRegroup))
        return std::nullopt;
    return *kind == CommandKind::kPause  ? std::optional(Outcome::kPaused)
           : *kind == CommandKind::kStop ? std::optional(Outcome::kStopped)
                                         : std::nullopt;
}

} // namespace

std::string howObeyed(Outcome outcome) {
    return outcome == Outcome::kPaused ? "paused on request" : "stopped on request";
}

AppliedCommands::AppliedCommands(const std::string& runDir)
    : m_path(runDir + "/" + kAppliedJournal)
    , m_scanner(m_path, 0) {}

std::optional<CommandState> AppliedCommands::find(const std::string& id) {
    catchUp();
    const auto found = m_applied.find(id);
    return found == m_applied.end() ? std::nullopt : std::optional(found->second);
}

bool AppliedCommands::areHeld(uint64_t since) {
    catchUp();
    return m_lastHold && m_lastHold->second > since &&
           m_lastHold->first.kind != commandKindName(CommandKind::kContinue);
}

std::optional<Outcome> AppliedCommands::endingSince(uint64_t since) {
    catchUp();
    return m_lastEnding && m_lastEnding->second > since ? std::optional(m_lastEnding->first)
                                                        : std::nullopt;
}

uint64_t AppliedCommands::size() {
    catchUp();
    return m_scanner.cursor();
}

void AppliedCommands::catchUp() {
    struct stat info = {};
    if (m_fd && ::fstat(m_fd.get(), &info) == 0 && info.st_nlink == 0) {
        // Deleted: rank 0 writes another one.
        m_fd = Descriptor();
        m_offset = 0;
        m_scanner = JournalScanner(m_path, 0);
    }
    if (!m_fd) {
        Result<Descriptor> fd = openFile(m_path, O_RDONLY);
        if (!fd)
            return;
        m_fd = std::move(*fd);
    }
    if (::fstat(m_fd.get(), &info) != 0 || static_cast<uint64_t>(info.st_size) <= m_offset)
        return;
    std::vector<std::byte> buffer(
        std::min<uint64_t>(kBlock, static_cast<uint64_t>(info.st_size) - m_offset));
    while (true) {
        const ssize_t count =
            ::pread(m_fd.get(), buffer.data(), buffer.size(), static_cast<off_t>(m_offset));
        if (count <= 0)
            return;
        m_offset += static_cast<uint64_t>(count);
        m_scanner.feed(std::span(buffer).first(static_cast<size_t>(count)));
        drain();
    }
}

// Damage only ends the search; the app, which reads the journal too, reports it.
void AppliedCommands::drain() {
    while (true) {
        const Result<std::optional<Record>> record = m_scanner.next();
        if (!record || !*record)
            return;
        const auto* applied = std::get_if<CommandApplied>(&**record);
        if (!applied)
            continue;
        const CommandProgress progress =
            applied->ok ? CommandProgress::kApplied : CommandProgress::kRefused;
        if (isAboutHolding(*applied))
            m_lastHold = std::pair(*applied, m_scanner.cursor());
        if (const auto ending = endingBy(*applied))
            m_lastEnding = std::pair(*ending, m_scanner.cursor());
        m_applied[applied->id] = {applied->id, progress, applied->step, applied->message};
    }
}

} // namespace rm
