// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/session/session.h"

#include "shared/io/clock.h"
#include "shared/io/control_group.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <thread>

namespace rm {
namespace {

/// A damaged journal is set aside: its records matter only while commands come again.
Result<JournalWriter> openApplied(const std::string& path) {
    auto applied = JournalWriter::open(path);
    if (applied || applied.error().code != ErrorCode::kCorrupt)
        return applied;
    std::error_code error;
    std::filesystem::rename(path, path + ".damaged", error);
    if (error)
        return applied;
    return JournalWriter::open(path);
}

Result<void> openReports(Session& session) {
    for (const char* folder : {"/journal", "/board", "/log"})
        if (const auto made = makeFolders(session.runDir + folder); !made)
            return made;
    const int rank = session.environment.rank;
    const int attempt = session.environment.attempt;
    RM_ASSIGN_OR_RETURN(auto journal,
                        JournalWriter::begin(session.runDir + "/journal", rankName(rank), attempt));
    journal.keepSynced();
    RM_ASSIGN_OR_RETURN(auto board,
                        Board::create(session.runDir + "/board/" + rankName(rank), rank, attempt));
    session.board = std::make_unique<Board>(std::move(board));
    session.telemetry = std::make_unique<Telemetry>(std::move(journal), rank, session.board.get());
    if (rank == 0) {
        RM_ASSIGN_OR_RETURN(auto applied, openApplied(session.runDir + "/" + kAppliedJournal));
        applied.keepSynced();
        session.telemetry->alsoNoteCommands(std::move(applied));
    }
    return {};
}

} // namespace

int threadsPerRank(const RunSpec& spec, int localRanks) {
    if (spec.train.threads > 0)
        return static_cast<int>(spec.train.threads);
    const auto cores = givenCores();
    return std::max(1, cores / localRanks);
}

Result<RunSpec> readSpec(const std::string& path) {
    auto spec = loadRunSpec(path);
    if (!spec)
        return spec;
    const auto checked = check(std::move(*spec));
    if (!checked)
        return failAs("check " + path, checked.error());
    return **checked;
}

std::string Session::checkpointDir() const {
    const std::string& wanted = spec.checkpoint.directory;
    return wanted.empty() ? runDir + "/checkpoints" : wanted;
}

void Session::event(Severity severity, const char* code, const std::string& message,
                    int64_t step) const {
    std::FILE* stream = severity == Severity::kInfo ? stdout : stderr;
    const char* prefix = severity == Severity::kInfo ? "" : "warning: ";
    if (severity != Severity::kError) // main prints errors
        std::fprintf(stream, "%s%s\n", prefix, message.c_str());
    telemetry->append(Event{environment.rank, step, wallNowNs(), severity, code, message});
}

Result<Session> openSession(Options options, TorchrunEnvironment environment) {
    Session session;
    session.environment = std::move(environment);
    session.options = std::move(options);
    RM_ASSIGN_OR_RETURN(auto spec, readSpec(session.options.spec));
    session.spec = std::move(spec);
    if (!session.options.device.empty())
        session.spec.launch.device = session.options.device;
    session.runDir = std::filesystem::weakly_canonical(session.options.runDir).string();
    RM_RETURN_IF_ERROR(openReports(session));
    RM_ASSIGN_OR_RETURN(
        auto device, useDevice(session.spec.launch.device, session.environment.localRank,
                               threadsPerRank(session.spec, session.environment.localWorldSize)));
    session.device = device;
    return session;
}

} // namespace rm
