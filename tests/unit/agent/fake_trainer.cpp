// SPDX-License-Identifier: Apache-2.0
// A rank without torch, for tests of the agent: it keeps a board, journals its steps and does what
// RINGMASTER_FAKE_RANK_<rank> says, "ACTION@STEP" with ACTION one of
//   exit=CODE  signal=NUMBER  ignore-term  finish  leave-child  flood-log
//   deaf (to what rank 0 says of commands)
//   linger (after it has obeyed a command that ends it)
//   wait (in a collective, for ever)  hang (before it comes to that collective)
// or "ACTION@STEP#ATTEMPT" for what it does in that attempt alone, several of them separated by
// spaces; the first that is of the attempt counts. A rank goes on from step 0.
#include "shared/board/board.h"
#include "shared/checkpoint/owner.h"
#include "shared/exit_code.h"
#include "shared/io/clock.h"
#include "shared/journal/journal.h"
#include "shared/journal/segment.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace {

using namespace rm;

std::atomic<bool> s_isTerminated{false};

struct Script {
    std::string action;
    int64_t step = -1;
};

Script scriptOf(int rank, int attempt) {
    const std::string name = "RINGMASTER_FAKE_RANK_" + std::to_string(rank);
    const char* value = std::getenv(name.c_str());
    std::istringstream texts(value ? value : "");
    for (std::string text; texts >> text;) {
        const size_t at = text.find('@');
        const size_t sharp = text.find('#');
        const bool isNow =
            sharp == std::string::npos || std::stoi(text.substr(sharp + 1)) == attempt;
        if (at != std::string::npos && isNow)
            return {text.substr(0, at), std::stoll(text.substr(at + 1))};
    }
    return {};
}

std::string argument(int argc, char** argv, const std::string& name) {
    for (int i = 1; i + 1 < argc; ++i)
        if (argv[i] == name)
            return argv[i + 1];
    return {};
}

// Stays in the rank's process group when the rank is gone.
void leaveChild(const std::string& runDir) {
    const pid_t child = ::fork();
    if (child == 0) {
        ::signal(SIGTERM, SIG_IGN);
        ::sleep(60);
        ::_exit(0);
    }
    std::FILE* file = std::fopen((runDir + "/child.pid").c_str(), "w");
    std::fprintf(file, "%d\n", child);
    std::fclose(file);
}

[[gnu::noinline]] void hangForEver() {
    while (!s_isTerminated)
        ::pause();
}

void act(const Script& script, const std::string& runDir, Board& board) {
    if (script.action.starts_with("exit=")) {
        std::printf("\x1b[31mlast words\x1b[0m of this rank\n");
        const int code = std::stoi(script.action.substr(5));
        board.setLastWord(code);
        std::exit(code);
    }
    if (script.action.starts_with("signal="))
        ::raise(std::stoi(script.action.substr(7)));
    if (script.action == "ignore-term")
        ::signal(SIGTERM, SIG_IGN);
    if (script.action == "finish") {
        board.setLastWord(0);
        std::exit(0);
    }
    if (script.action == "leave-child")
        leaveChild(runDir);
    if (script.action == "wait")
        board.beginCollective(CollectiveGroup::kMain, CollectiveKind::kAllReduce, 4096);
    if (script.action == "wait" || script.action == "hang")
        hangForEver();
    if (script.action == "flood-log")
        for (int line = 0; line < 20000; ++line)
            std::printf("a line of the log that says nothing new, number %d\n", line);
}

// The exit code that a command asks for, -1: go on.
int obey(Board& board, JournalWriter& journal, int64_t step, const std::string& runDir) {
    const std::optional<Command> command = board.pendingCommand();
    if (!command)
        return -1;
    const CommandApplied done{command->id, commandKindName(command->kind), step, wallNowNs(), true,
                              "done"};
    auto applied = JournalWriter::open(runDir + "/" + kAppliedJournal);
    for (JournalWriter* each : {&*applied, &journal}) {
        each->append(done);
        (void)each->flush();
    }
    board.commandDone();
    if (command->kind == CommandKind::kPause)
        return static_cast<int>(ExitCode::kPaused);
    return command->kind == CommandKind::kStop ? static_cast<int>(ExitCode::kStopped) : -1;
}

// Where rank 0 tells those of all nodes, which share a home, how the attempt ends by command.
std::string wordPath(const std::string& runDir, int attempt) {
    return runDir + "/../ended-" + std::to_string(attempt);
}

int train(Board& board, JournalWriter& journal, int rank, int attempt, const std::string& runDir) {
    const Script script = scriptOf(rank, attempt);
    for (const CollectiveGroup group : {CollectiveGroup::kMain, CollectiveGroup::kSide})
        board.countEnds(group, true);
    for (int64_t step = 1;; ++step) {
        board.setStep(step);
        board.setPhase(Phase::kForward);
        journal.append(Samples{rank, step, wallNowNs(), {metric::kTrainLoss}, {1.0f}});
        (void)journal.flush();
        std::printf("rank %d step %lld\n", rank, static_cast<long long>(step));
        if (step == script.step)
            act(script, runDir, board);
        const std::string word = wordPath(runDir, attempt);
        if (const int code = obey(board, journal, step, runDir); code >= 0) {
            while (script.action == "linger")
                ::pause();
            std::ofstream(word) << code;
            return code;
        }
        const bool isDeaf = script.action == "deaf";
        if (int code = 0; rank > 0 && !isDeaf && std::ifstream(word) >> code)
            return code;
        if (s_isTerminated)
            return static_cast<int>(ExitCode::kPreempted);
        ::usleep(5000);
    }
}

} // namespace

int main(int argc, char** argv) {
    std::setvbuf(stdout, nullptr, _IOLBF, 0);
    ::signal(SIGTERM, [](int) { s_isTerminated = true; });
    const int rank = std::atoi(std::getenv("RANK"));
    const int attempt = std::atoi(std::getenv("TORCHELASTIC_RESTART_COUNT")) + 1;
    const std::string runDir = argument(argc, argv, "--run-dir");
    auto board = Board::create(runDir + "/board/" + rankName(rank), rank, attempt);
    auto journal = JournalWriter::begin(runDir + "/journal", rankName(rank), attempt);
    if (!board || !journal)
        return 1;
    // For what tests put there of any attempt, the first one stays the owner.
    const std::string folder = runDir + "/checkpoints";
    const std::string run = std::filesystem::path(runDir).parent_path().filename().string();
    if (rank == 0 && !readOwner(folder) && !claimCheckpoints(folder, {run, run, {1, {}, {}}}))
        return 1;
    journal->append(AttemptStarted{attempt, rank, 1, 0, wallNowNs(), {}});
    const int code = train(*board, *journal, rank, attempt, runDir);
    board->setLastWord(code);
    return code;
}
