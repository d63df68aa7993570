// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/run_dir/run_dir.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <cerrno>

namespace rm {

namespace {

using nlohmann::json;

json toJson(const ProcessId& process) {
    return {{"pid", process.pid}, {"start_ticks", process.startTicks}};
}

ProcessId processFrom(const json& value) {
    return {value.at("pid").get<int64_t>(), value.at("start_ticks").get<int64_t>()};
}

json toJson(const AgentState::Rank& rank) {
    return {{"rank", rank.rank},
            {"process", toJson(rank.process)},
            {"exited", rank.exited},
            {"exit_code", rank.exitCode},
            {"signal", rank.signal}};
}

AgentState::Rank rankFrom(const json& value) {
    return {value.at("rank").get<int32_t>(), processFrom(value.at("process")),
            value.at("exited").get<bool>(), value.at("exit_code").get<int32_t>(),
            value.at("signal").get<int32_t>()};
}

AgentState stateFrom(const json& value) {
    AgentState state;
    state.supervisor = processFrom(value.at("supervisor"));
    state.boot = value.at("boot").get<std::string>();
    state.machine = value.value("machine", "");
    state.attempt = value.at("attempt").get<int32_t>();
    state.nodeIndex = value.at("node_index").get<int32_t>();
    state.appliedBefore = value.value("applied_before", uint64_t{0});
    state.ended = value.at("ended").get<bool>();
    state.outcome = static_cast<Outcome>(value.at("outcome").get<uint8_t>());
    for (const json& rank : value.at("ranks"))
        state.ranks.push_back(rankFrom(rank));
    return state;
}

// Locks the whole file by open file description, which forked children share.
struct flock wholeFile() {
    struct flock lock = {};
    lock.l_type = F_WRLCK;
    lock.l_whence = SEEK_SET;
    return lock;
}

} // namespace

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
    json ranks = json::array();
    for (const AgentState::Rank& rank : state.ranks)
        ranks.push_back(toJson(rank));
    const json value = {{"supervisor", toJson(state.supervisor)},
                        {"boot", state.boot},
                        {"machine", state.machine},
                        {"attempt", state.attempt},
                        {"node_index", state.nodeIndex},
                        {"applied_before", state.appliedBefore},
                        {"ended", state.ended},
                        {"outcome", static_cast<uint8_t>(state.outcome)},
                        {"ranks", ranks}};
    return writeFileAtomically(runDir + "/agent.json", value.dump() + "\n");
}

Result<AgentState> loadAgentState(const std::string& runDir) {
    const std::string path = runDir + "/agent.json";
    RM_ASSIGN_OR_RETURN(const std::string text, readFile(path, 1 << 20));
    try {
        return stateFrom(json::parse(text));
    } catch (const json::exception& error) {
        return fail(ErrorCode::kCorrupt, "read " + path + ": " + error.what());
    }
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
