// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/run_dir.h"

#include "shared/io/file.h"
#include "shared/io/json_fields.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace rm {

namespace {

// Locks the whole file by open file description, which forked children share.
struct flock wholeFile() {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

} // namespace

template <Either<ProcessId> T, class Visit>
void fields(T& process, Visit&& visit) {
    visit("pid", process.pid);
    visit("start_ticks", process.startTicks);
}

template <Either<AgentState::Rank> T, class Visit>
void fields(T& rank, Visit&& visit) {
    visit("rank", rank.rank);
    visit("process", rank.process);
    visit("exited", rank.exited);
    visit("exit_code", rank.exitCode);
    visit("signal", rank.signal);
}

template <Either<AgentState> T, class Visit>
void fields(T& state, Visit&& visit) {
    visit("supervisor", state.supervisor);
    visit("boot", state.boot);
    visit("machine", state.machine, kOptional); // added after release 0.1.0, as was the next
    visit("applied_before", state.appliedBefore, kOptional);
    visit("attempt", state.attempt);
    visit("node_index", state.nodeIndex);
    visit("ended", state.ended);
    visit("outcome", state.outcome);
    visit("ranks", state.ranks);
}

std::vector<AgentState::Rank> AgentState::living() const {
    std::vector<Rank> found;
    if (boot != bootId())
        return found;
    for (const Rank& rank : ranks)
        if (!rank.exited && isAlive(rank.process))
            found.push_back(rank);
    return found;
}

bool AgentState::isElsewhere() const {
    return boot != bootId() && !machine.empty() && machine != machineId();
}

Result<void> saveAgentState(const std::string& runDir, const AgentState& state) {
    return writeFileAtomically(runDir + "/agent.json", dumpJson(writeFields(state)) + "\n");
}

Result<AgentState> loadAgentState(const std::string& runDir) {
    const std::string path = runDir + "/agent.json";
    RM_ASSIGN_OR_RETURN(const std::string text, readFile(path, 1 << 20));
    return parseFields<AgentState>(text, path);
}

bool isAliveIn(const std::string& runDir, const AgentState& state) {
    // One without ranks may wait for nodes, to restart them.
    const bool isWaiting = !state.ended && RunLock::isHeld(runDir);
    return !state.isElsewhere() && (isWaiting || !state.living().empty());
}

Result<NodePlan> loadPlan(const std::string& runDir) {
    const std::string path = runDir + "/plan.toml";
    RM_ASSIGN_OR_RETURN(const std::string text, readFile(path, 1 << 20));
    return parseNodePlan(text, path);
}

Result<RunLock> RunLock::take(const std::string& runDir) {
    const std::string path = runDir + "/agent.pid";
    RM_ASSIGN_OR_RETURN(Descriptor fd, openFile(path, O_RDWR | O_CREAT, 0600));
    struct flock lock = wholeFile();
    if (::fcntl(fd.get(), F_OFD_SETLK, &lock) == 0)
        return RunLock(std::move(fd));
    if (errno == EAGAIN || errno == EACCES)
        return fail(ErrorCode::kUnavailable, "lock " + path + ": an agent supervises this run");
    return failErrno("lock " + path, errno);
}

bool RunLock::isHeld(const std::string& runDir) {
    const Result<Descriptor> fd = openFile(runDir + "/agent.pid", O_RDONLY);
    if (!fd)
        return false;
    struct flock lock = wholeFile();
    return ::fcntl(fd->get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

void RunLock::writePid() const {
    const std::string text = std::to_string(::getpid()) + "\n";
    if (::ftruncate(m_fd.get(), 0) == 0)
        (void)!::pwrite(m_fd.get(), text.data(), text.size(), 0);
}

} // namespace rm
