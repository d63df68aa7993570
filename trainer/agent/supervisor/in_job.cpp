// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/in_job.h"

#include "shared/io/clock.h"
#include "shared/io/file.h"
#include "shared/io/json_fields.h"
#include "shared/io/random_hex.h"
#include "shared/return_if_error.h"
#include "shared/spec/run_spec.h"
#include "trainer/agent/net/free_port.h"
#include "trainer/agent/net/own_address.h"
#include "trainer/agent/net/socket_address.h"
#include "trainer/agent/receive/bundle_check.h"
#include "trainer/agent/run_dir/run_checkpoints.h"
#include "trainer/agent/run_dir/run_dir.h"
#include "trainer/agent/supervisor/job_gpus.h"
#include "trainer/agent/supervisor/lost_attempt.h"
#include "trainer/agent/supervisor/rank_environment.h"
#include "trainer/agent/supervisor/supervisor.h"

#include <fcntl.h>
#include <netdb.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

namespace rm {

namespace {

constexpr int64_t kMeetingNs = 300'000'000'000; ///< for a slow network file system
constexpr auto kMeetingPause = std::chrono::milliseconds(200);
constexpr int64_t kMostStartsInVain = 3;

/// Holds Slurm's signals until a supervisor listens to them, so that they end nobody before.
class HeldSignals {
public:
    HeldSignals() {
        sigset_t signals;
        ::sigemptyset(&signals);
        ::sigaddset(&signals, SIGTERM);
        ::sigaddset(&signals, SIGUSR1);
        ::sigprocmask(SIG_BLOCK, &signals, &m_before);
    }
    void release() { ::sigprocmask(SIG_SETMASK, &m_before, nullptr); }

private:
    sigset_t m_before;
};

/// A task's place in a job, as Slurm tells it.
struct JobPlace {
    std::string job;
    int64_t starts = 0; ///< starts of the job before this one
    int64_t node = 0;
    int64_t nodes = 1;
};

Result<int64_t> numberFrom(const char* name, std::optional<int64_t> fallback = {}) {
    const char* value = std::getenv(name);
    if (!value && fallback)
        return *fallback;
    const std::string text = value ? value : "";
    int64_t number = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), number);
    if (text.empty() || parsed.ec != std::errc() || parsed.ptr != text.data() + text.size())
        return fail(ErrorCode::kInvalid, std::string("in-job: ") + name + " is '" + text +
                                             "'; srun starts this in a job of Slurm");
    return number;
}

Result<JobPlace> placeInJob() {
    JobPlace place;
    RM_ASSIGN_OR_RETURN(const int64_t job, numberFrom("SLURM_JOB_ID"));
    place.job = std::to_string(job);
    RM_ASSIGN_OR_RETURN(place.starts, numberFrom("SLURM_RESTART_COUNT", 0));
    RM_ASSIGN_OR_RETURN(place.node, numberFrom("SLURM_NODEID"));
    RM_ASSIGN_OR_RETURN(place.nodes, numberFrom("SLURM_NNODES"));
    return place;
}

/// The decisions of node 0 for all nodes at a start of the job, left in the run's folder.
struct Meeting {
    std::string job;
    int64_t starts = 0; ///< JobPlace::starts
    std::string address;
    int64_t masterPort = 0, agentPort = 0;
    int64_t attempt = 1;
    std::string nonce;
    std::string startFrom;
    bool startFromIsExact = false;
    /// How many starts of the job in a row, up to this one, ended at its time limit before they had
    /// saved anything.
    int64_t startsInVain = 0;
};

std::string meetingPath(const std::string& runFolder) {
    return runFolder + "/meeting.json";
}

template <Either<Meeting> T, class Visit>
void fields(T& meeting, Visit&& visit) {
    visit("job", meeting.job);
    visit("starts", meeting.starts);
    visit("address", meeting.address);
    visit("master_port", meeting.masterPort);
    visit("agent_port", meeting.agentPort);
    visit("attempt", meeting.attempt);
    visit("nonce", meeting.nonce);
    visit("start_from", meeting.startFrom);
    visit("start_from_is_exact", meeting.startFromIsExact, kOptional);
    visit("starts_in_vain", meeting.startsInVain, kOptional);
}

Result<void> leaveMeeting(const std::string& runFolder, const Meeting& meeting) {
    return writeFileAtomically(meetingPath(runFolder), dumpJson(writeFields(meeting)) + "\n");
}

/// nullopt: there is none of that job yet.
std::optional<Meeting> readMeeting(const std::string& runFolder, const std::string& job) {
    const auto text = readFile(meetingPath(runFolder), 1 << 20);
    const auto meeting =
        text ? parseFields<Meeting>(*text, "meeting.json") : tl::unexpected(text.error());
    return meeting && meeting->job == job ? std::optional(*meeting) : std::nullopt;
}

/// nullopt: there is none yet of this start of the job.
std::optional<Meeting> findMeeting(const std::string& runFolder, const JobPlace& place) {
    const auto meeting = readMeeting(runFolder, place.job);
    return meeting && meeting->starts == place.starts ? meeting : std::nullopt;
}

Result<Meeting> awaitMeeting(const std::string& runFolder, const JobPlace& place) {
    const int64_t deadlineNs = monotonicNowNs() + kMeetingNs;
    while (monotonicNowNs() < deadlineNs) {
        if (const auto meeting = findMeeting(runFolder, place))
            return *meeting;
        std::this_thread::sleep_for(kMeetingPause);
    }
    return fail(ErrorCode::kUnavailable,
                "wait for node 0 of job " + place.job + " in " + meetingPath(runFolder) +
                    ": it left nothing there within 5 min; is the folder the same on all nodes?");
}

std::vector<std::string> addressesOf(const std::string& name) {
    addrinfo wanted = {};
    wanted.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    if (name.empty() || ::getaddrinfo(name.c_str(), nullptr, &wanted, &found) != 0)
        return {};
    std::vector<std::string> addresses;
    for (const addrinfo* at = found; at; at = at->ai_next) {
        SocketAddress address;
        std::memcpy(&address.storage, at->ai_addr, at->ai_addrlen);
        address.size = at->ai_addrlen;
        addresses.push_back(address.host());
    }
    ::freeaddrinfo(found);
    return addresses;
}

std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value ? value : "";
}

/// The address by which the other nodes of the job reach this one.
std::string addressInJob(const JobPlace& place, const std::string& interface) {
    if (place.nodes == 1)
        return "127.0.0.1";
    const std::string launcher = variable("SLURM_LAUNCH_NODE_IPADDR");
    const auto source = sourceTowards(launcher);
    return ownAddress({interface, addressesOf(variable("SLURMD_NODENAME")), launcher,
                       source ? source->host() : std::string(), interfaceAddresses()});
}

/// The interface here by which that address is reached; empty: it cannot be told.
std::string interfaceTo(const std::string& address) {
    const auto own = sourceTowards(address);
    if (!own)
        return {};
    for (const InterfaceAddress& each : interfaceAddresses())
        if (each.address.hasSameHost(*own))
            return each.interface;
    return {};
}

/// The newest attempt of which ranks were started on any node; 0: none.
Result<int64_t> newestBegun(const Folders& folders, const std::string& runId) {
    RM_ASSIGN_OR_RETURN(const auto parts, folders.partDirs(runId));
    int64_t newest = 0;
    for (const std::string& part : parts)
        if (const auto state = loadAgentState(part); state && !state->ranks.empty())
            newest = std::max<int64_t>(newest, state->attempt);
    return newest;
}

std::optional<std::string> newestCheckpoint(const std::string& partDir) {
    const auto checkpoints = readCheckpoints(partDir);
    const CheckpointEntry* newest = checkpoints ? checkpoints->newest() : nullptr;
    return newest ? std::optional(newest->path) : std::nullopt;
}

Result<Meeting> decideMeeting(const Folders& folders, const std::string& runFolder,
                              const std::string& partDir, const JobPlace& place,
                              const NodePlan& plan) {
    RM_ASSIGN_OR_RETURN(const RunSpec spec, loadRunSpec(partDir + "/spec.toml"));
    RM_ASSIGN_OR_RETURN(const int64_t begun, newestBegun(folders, plan.runId));
    Meeting meeting;
    meeting.job = place.job;
    meeting.starts = place.starts;
    meeting.address = addressInJob(place, spec.launch.interface);
    meeting.masterPort =
        spec.launch.masterPort > 0 ? spec.launch.masterPort : freePortOn(meeting.address, 0);
    if (place.nodes > 1)
        meeting.agentPort = freePortOn(meeting.address, meeting.masterPort + 1);
    meeting.attempt = std::max(plan.attempt, begun + 1);
    meeting.nonce = randomHex(32);
    meeting.startFrom = plan.startFrom;
    meeting.startFromIsExact = plan.startFromIsExact;
    if (const auto before = readMeeting(runFolder, place.job))
        meeting.startsInVain = before->startsInVain;
    if (const auto newest = begun >= plan.attempt ? newestCheckpoint(partDir) : std::nullopt) {
        meeting.startFrom = *newest;
        meeting.startFromIsExact = false;
    }
    RM_RETURN_IF_ERROR(leaveMeeting(runFolder, meeting));
    return meeting;
}

/// The record of an attempt that this job's agents begin by themselves, as a leader does.
std::optional<AttemptPlanned> plannedBy(const Folders& folders, const NodePlan& before,
                                        const Meeting& meeting) {
    if (before.nodeIndex != 0 || meeting.attempt == before.attempt)
        return std::nullopt;
    AttemptPlanned planned{
        static_cast<int32_t>(meeting.attempt), wallNowNs(), meeting.startFrom, {}};
    for (int64_t node = 0; node < before.nodes(); ++node) {
        const auto part = folders.existingPartDir(before.runId, node);
        const auto plan = part ? loadPlan(*part) : tl::unexpected(part.error());
        if (plan)
            planned.nodes.push_back({static_cast<int32_t>(node),
                                     static_cast<int32_t>(plan->firstRank),
                                     static_cast<int32_t>(plan->localRanks)});
    }
    return planned;
}

/// Notes on node 0 that the job's time is over, for the job's next start.
void noteTimeOver(const std::string& runFolder, const std::string& partDir, Meeting meeting) {
    const auto newest = newestCheckpoint(partDir);
    const bool hasSaved = newest && *newest != meeting.startFrom;
    meeting.startsInVain = hasSaved ? 0 : meeting.startsInVain + 1;
    if (const auto left = leaveMeeting(runFolder, meeting); !left)
        std::fprintf(stderr, "%s\n", left.error().message.c_str());
}

std::string whyNotAgain(const JobPlace& place, const Meeting& meeting) {
    return "job " + place.job + " of Slurm was started " + std::to_string(meeting.startsInVain) +
           " times, and each time told that its time is over before the run had saved anything; "
           "resume it with a longer --time, or a --signal that comes later, in launch.sbatch";
}

NodePlan planFor(const Meeting& meeting, NodePlan plan) {
    plan.attempt = meeting.attempt;
    plan.masterAddr = meeting.address;
    plan.masterPort = meeting.masterPort;
    plan.agentPort = plan.nodes() > 1 ? meeting.agentPort : 0;
    plan.interface = plan.nodes() > 1 ? interfaceTo(meeting.address) : std::string();
    plan.storeNonce = meeting.nonce;
    plan.startFrom = meeting.startFrom;
    plan.startFromIsExact = meeting.startFromIsExact;
    return plan;
}

/// Why the run ends before it has ranks; empty: they are started.
std::string whyNoRanks(const JobPlace& place, const Meeting& meeting, const NodePlan& plan,
                       const RunSpec& spec) {
    if (meeting.startsInVain >= kMostStartsInVain)
        return whyNotAgain(place, meeting);
    if (plan.device != "cuda")
        return {};
    return whyUnfit(plan, spec, *openNvmlGpus(), visibleDevices(plan, spec));
}

} // namespace

/// Slurm may end the job at any moment, so its signals are held until a supervisor can obey them.
/// The end of the attempt before is recorded before plan.toml names the new one.
Result<int> runInJob(const Folders& folders, const std::string& runId) {
    HeldSignals held;
    const std::string attempt = "in-job " + runId;
    RM_ASSIGN_OR_RETURN(const JobPlace place, placeInJob());
    RM_ASSIGN_OR_RETURN(const std::string runFolder, folders.runDir(runId));
    RM_ASSIGN_OR_RETURN(const std::string partDir, folders.existingPartDir(runId, place.node));
    RM_ASSIGN_OR_RETURN(const NodePlan before, loadPlan(partDir));
    if (before.nodes() != place.nodes)
        return fail(ErrorCode::kInvalid,
                    attempt + ": job " + place.job + " has " + std::to_string(place.nodes) +
                        " nodes, and the run was planned for " + std::to_string(before.nodes()));
    if (const Result<void> whole = verifyBundle(folders.home, before.bundle); !whole)
        return failAs(attempt, whole.error());
    RM_ASSIGN_OR_RETURN(const Meeting meeting,
                        place.node == 0 ? decideMeeting(folders, runFolder, partDir, place, before)
                                        : awaitMeeting(runFolder, place));
    RM_ASSIGN_OR_RETURN(const RunLock lock, RunLock::take(partDir));
    lock.writePid();
    RM_ASSIGN_OR_RETURN(const RunSpec spec, loadRunSpec(partDir + "/spec.toml"));
    const NodePlan plan = planFor(meeting, before);
    if (const std::string why = whyNoRanks(place, meeting, plan, spec); !why.empty()) {
        RM_RETURN_IF_ERROR(closeLostAttempt(partDir, {.why = why}));
        return fail(ErrorCode::kUnavailable, attempt + ": " + why);
    }
    if (meeting.attempt > before.attempt)
        RM_RETURN_IF_ERROR(closeLostAttempt(
            partDir, {.resumes = true, .why = "its job was started again by Slurm"}));
    const auto planned = plannedBy(folders, before, meeting);
    RM_RETURN_IF_ERROR(writeFileAtomically(partDir + "/plan.toml", toToml(plan)));
    if (::chdir(partDir.c_str()) != 0)
        return failErrno("enter " + partDir, errno);
    ::signal(SIGHUP, SIG_IGN);
    Supervisor supervisor(partDir, plan, spec);
    supervisor.inJob(planned);
    held.release();
    if (const Result<void> launched = supervisor.launch(); !launched)
        return failAs(attempt, launched.error());
    supervisor.run();
    if (supervisor.resumesInJob() && supervisor.isTimeOver() && place.node == 0)
        noteTimeOver(runFolder, partDir, meeting);
    // A preempted job is started again by Slurm, and a cancelled one is to stay so.
    if (supervisor.resumesInJob())
        return supervisor.isTimeOver() ? kResumesInJob : 0;
    const auto end = loadAgentState(".");
    return end && end->outcome == Outcome::kFailed ? 1 : 0;
}

} // namespace rm
