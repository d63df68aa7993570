// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_rows.h"

#include "app/core/findings/text.h"
#include "app/core/network/address_kind.h"
#include "app/core/network/network_words.h"
#include "app/core/node/chosen_gpus.h"
#include "shared/amounts.h"
#include "shared/counted.h"
#include "shared/io/elf_versions.h"
#include "shared/io/json.h"

#include <QLocale>
#include <QString>

#include <algorithm>
#include <cstdlib>
#include <optional>

namespace rm {

namespace {

constexpr int64_t kGiB = 1024 * 1024 * 1024;
constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kRoomForTrainer = kGiB;
constexpr const char* kGpusRow = "gpus"; ///< a warning where the node trains on its CPU

std::string decimal(double value) {
    return QLocale::c().toString(value, 'f', 1).toStdString();
}

/// At least the least that is told: not "within 0.0 s".
double roundedUp(double value) {
    return std::max(value, 0.1);
}

CheckRow systemRow(const NodeReport& report) {
    return finding("system", {{"os", report.os}, {"kernel", report.kernel}});
}

CheckRow glibcRow(const NodeReport& report, const NeededVersions& needed) {
    if (needed.glibc.empty())
        return finding("glibc", {{"glibc", report.glibc}});
    return finding(isOlderVersion(report.glibc, needed.glibc) ? "glibc.old" : "glibc.suffices",
                   {{"glibc", report.glibc}, {"needed", needed.glibc}});
}

/// What installs the package there; empty: not known of this system.
std::string installLibstdcxx(const std::string& os) {
    const auto is = [&os](const char* name) { return os.find(name) != std::string::npos; };
    if (is("Debian") || is("Ubuntu") || is("Mint"))
        return "sudo apt-get install libstdc++6";
    if (is("Red Hat") || is("Rocky") || is("Alma") || is("CentOS") || is("Fedora"))
        return "sudo dnf install libstdc++";
    return {};
}

CheckRow libstdcxxRow(const NodeReport& report, const NeededVersions& versions) {
    const std::string needed = versions.libstdcxx.empty()
                                   ? std::string()
                                   : say("node.needs-glibcxx", {{"version", versions.libstdcxx}});
    if (report.libstdcxx.empty()) {
        const std::string command = installLibstdcxx(report.os);
        if (command.empty())
            return finding("libstdcxx.missing", {{"needed", needed}, {"command", {}}});
        return finding(
            "libstdcxx.missing",
            {{"needed", needed}, {"command", say("node.by-command", {{"command", command}})}},
            copyCommand(command));
    }
    const bool isOld =
        !versions.libstdcxx.empty() && isOlderVersion(report.libstdcxx, versions.libstdcxx);
    return finding(isOld ? "libstdcxx.old" : "libstdcxx",
                   {{"version", report.libstdcxx}, {"needed", needed}});
}

CheckRow machineRow(const NodeReport& report) {
    constexpr int64_t kLittle = 2 * kGiB;
    return finding(report.memoryBytes < kLittle ? "machine.little" : "machine",
                   {{"cpu", report.cpuModel},
                    {"cores", counted(report.cores, "core")},
                    {"memory", memoryWords(report.memoryBytes)}});
}

CheckRow gpuRow(const NodeReport& whole, const NodeReport& report, const CheckContext& context) {
    const Value driver{"driver", report.driver};
    if (report.gpus.empty() && report.driver.empty())
        return finding("gpus.none");
    if (report.gpus.empty())
        return finding("gpus.driver-alone", {driver});
    const Value gpus{"gpus", gpuWords(report.gpus)};
    std::string missing;
    for (const Runtime& runtime : gpuRuntimes()) {
        if (!obstacleTo(runtime, report).empty())
            continue;
        const Value serves{"runtime", runtime.name};
        if (context.isHere(runtime))
            return missing.empty()
                       ? finding("gpus", {gpus, driver, serves})
                       : finding("gpus.newer-runtime", {gpus, driver, serves, {"newer", missing}});
        if (missing.empty())
            missing = runtime.name;
    }
    if (!missing.empty())
        return finding("gpus.missing-runtime",
                       {gpus, driver, {"runtime", missing}, {"fix", runtimeFix(missing)}},
                       copyCommand("packaging/run --" + missing));
    const std::string fix = fixOfGpus(context.node, report, usedGpus(context.node, whole));
    const Value why{"why", whyNoRuntime(report)};
    return fix.empty() ? finding("gpus.unserved", {gpus, driver, why})
                       : finding("gpus.no-runtime", {gpus, driver, why, {"fix", fix}});
}

/// The disk that a folder is on: the one with the longest mount point. nullptr: none was told.
const DiskReport* diskOf(const NodeReport& report, const std::string& folder) {
    const DiskReport* best = nullptr;
    for (const DiskReport& disk : report.disks) {
        const bool holds =
            disk.path == "/" || folder == disk.path || folder.starts_with(disk.path + '/');
        if (holds && (best == nullptr || disk.path.size() > best->path.size()))
            best = &disk;
    }
    return best;
}

/// The disk of the node's home; a launch counts what it adds.
CheckRow diskRow(const NodeReport& report, const CheckContext& context) {
    const std::optional<int64_t>& toSend = context.toSend;
    constexpr int64_t kForJournals = 32 * kMiB;
    constexpr int64_t kComfortable = 5 * kGiB;
    const auto room = roomOfHome(report);
    if (!room)
        return finding("disk.unknown", {{"home", report.home}});
    const Value free{"free", bytesWords(room->freeBytes)};
    const Value total{"total", bytesWords(room->totalBytes)};
    const Value home{"home", report.home};
    const Value words{
        "room", room->fileSystem.empty()
                    ? say("node.room", {free, total, home})
                    : say("node.room-of", {free, total, home, {"file-system", room->fileSystem}})};
    if (room->freeBytes >= kComfortable)
        return finding("disk", {words});
    const int64_t needed = toSend ? *toSend + kForJournals : kRoomForTrainer;
    const bool isTrainerThere = toSend == 0;
    return finding(room->freeBytes >= needed ? "disk.little"
                   : isTrainerThere          ? "disk.too-little-for-runs"
                                             : "disk.too-little",
                   {words, {"make-room", makeRoomOn(context.node.name)}});
}

/// Room and permissions may be there, and yet no file can be written: a disk that had errors is
/// mounted read-only by its system. nullopt: nothing is told against it.
std::optional<CheckRow> foldersRow(const NodeReport& report) {
    const std::string &home = report.homeProblem, &state = report.stateProblem;
    if (home.empty() && state.empty())
        return std::nullopt;
    std::string problems = home;
    if (!state.empty() && state != home)
        append(problems, state);
    const auto says = [&problems](const char* cause) {
        return problems.find(cause) != std::string::npos;
    };
    const char* const ofHome = "RINGMASTER_HOME";
    const char* const ofState = "XDG_STATE_HOME";
    return finding(says("No space left") || says("quota") ? "folders.full" : "folders.closed",
                   {{"problems", problems},
                    {"cause", say(home.empty() ? "node.no-run-starts" : "node.nothing-is-sent")},
                    {"variables", home.empty()    ? ofState
                                  : state.empty() ? ofHome
                                                  : listed({ofHome, ofState})}});
}

CheckRow clockRow(const CheckContext& context) {
    constexpr int64_t kTolerated = 2'000'000'000;
    const int64_t off = std::abs(context.aheadNs);
    const auto seconds = [](int64_t ns) { return static_cast<double>(ns) / 1e9; };
    if (off <= context.uncertainNs + kTolerated)
        return finding("clock", {{"most", decimal(roundedUp(seconds(off + context.uncertainNs)))}});
    const std::string command = "sudo timedatectl set-ntp true";
    return finding(context.aheadNs > 0 ? "clock.ahead" : "clock.behind",
                   {{"seconds", decimal(seconds(off))}, {"command", command}},
                   copyCommand(command));
}

std::string interfaceWords(const InterfaceReport& interface) {
    const Value name{"name", interface.name};
    const Value address{"address", interface.address + '/' + std::to_string(interface.prefix)};
    return interface.speedMbit > 0
               ? say("node.interface-of",
                     {name, address, {"speed", std::to_string(interface.speedMbit)}})
               : say("node.interface", {name, address});
}

CheckRow networkRow(const NodeReport& report) {
    std::vector<std::string> interfaces;
    for (const InterfaceReport& interface : report.interfaces)
        if (isForOthers(interface))
            interfaces.push_back(interfaceWords(interface));
    return interfaces.empty() ? finding("network.loopback")
                              : finding("network", {{"interfaces", joined(interfaces)}});
}

/// PyTorch's store, Gloo and NCCL take connections of anybody.
CheckRow publicRow(const NodeReport& report, const CheckContext& context) {
    std::vector<std::string> open;
    for (const InterfaceReport& interface : report.interfaces)
        if (isForOthers(interface) && isPublic(interface.address))
            open.push_back(interface.address + " (" + interface.name + ')');
    if (open.empty())
        return finding("public-address");
    return finding(
        "public-address.open",
        {{"addresses", joined(open, ", ")},
         {"fix", publicAddressFix(context.lastNetwork ? context.lastNetwork() : std::nullopt,
                                  context.node.name, report.interfaces)}});
}

/// A node's own word may become a part of a command line only if no shell reads more into it.
bool isPlainWord(const std::string& text) {
    return !text.empty() && text.front() != '-' &&
           text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-") == std::string::npos;
}

CheckRow logoutRow(const NodeReport& report) {
    const std::string& user = report.user;
    switch (report.atLogout) {
    case AtLogout::kEndWithSession:
        return finding("logout.ends-with-session", {{"user", user}});
    case AtLogout::kEndWithUserManager: {
        const std::string command = "loginctl enable-linger";
        const std::string whole = isPlainWord(user) ? command + ' ' + user : command;
        return finding("logout.ends-with-last-login", {{"user", user}, {"command", whole}},
                       isPlainWord(user) ? std::optional(copyCommand(whole)) : std::nullopt);
    }
    case AtLogout::kUnknown:
        return finding("logout.unknown");
    case AtLogout::kGoOn:
        break;
    }
    return finding("logout", {{"user", user}});
}

std::string limitWords(int64_t limit, const std::string& value) {
    return limit < 0 ? say("node.unlimited") : limit == 0 ? say("node.unknown") : value;
}

/// Where it has GPUs, NCCL passes sums between those of one node through /dev/shm.
CheckRow limitsRow(const NodeReport& report) {
    constexpr int64_t kFewFiles = 1024;
    constexpr int64_t kLittleShared = 256 * kMiB;
    CheckRow row = finding(
        "limits", {{"locked", limitWords(report.memlockBytes, memoryWords(report.memlockBytes))},
                   {"files", limitWords(report.openFiles, std::to_string(report.openFiles))},
                   {"shared", memoryWords(report.shmBytes)}});
    if (!report.rdmaDevices.empty() && report.memlockBytes >= 0)
        addFinding(row, "limits.locked-memory", {{"device", report.rdmaDevices.front()}});
    if (report.openFiles > 0 && report.openFiles < kFewFiles)
        addFinding(row, "limits.few-files");
    if (report.gpus.size() > 1 && report.shmFreeBytes < kLittleShared)
        addFinding(row, "limits.little-shared", {{"free", memoryWords(report.shmFreeBytes)}});
    return row;
}

std::string ageWords(int64_t ns) {
    const int64_t seconds = std::max<int64_t>(0, ns / 1'000'000'000);
    constexpr int64_t kMinute = 60, kHour = 3600, kDay = 86400;
    return seconds < 2 * kMinute ? std::to_string(seconds) + " s"
           : seconds < 2 * kHour ? std::to_string(seconds / kMinute) + " min"
           : seconds < 2 * kDay  ? std::to_string(seconds / kHour) + " h"
                                 : say("node.days", {{"days", std::to_string(seconds / kDay)}});
}

std::string ranksThere(const RunReport& run) {
    return run.ranks > 0 ? counted(run.ranks, "rank") : say("node.agent-alone");
}

/// The row of processes there that are not of a live run of this Ringmaster.
CheckRow leftoversRow(const NodeReport& report, const CheckContext& context) {
    std::vector<std::string> live, ended, foreign, ids;
    for (const RunReport& run : report.runs) {
        const auto found = context.runs.find(run.runId);
        const bool isForeign = found == context.runs.end();
        const bool isLive = !isForeign && found->second == KnownRun::kLive;
        std::vector<std::string>& list = isLive ? live : isForeign ? foreign : ended;
        list.push_back(isForeign
                           ? otherRunWords(run, report.wallNs)
                           : say("node.run", {{"run", run.runId}, {"facts", ranksThere(run)}}));
        if (!isLive && isPlainWord(run.runId))
            ids.push_back(run.runId);
    }
    CheckRow row;
    if (!live.empty())
        row = finding("leftovers.live", {{"runs", joined(live, ", ")}});
    if (ended.empty() && foreign.empty())
        return live.empty() ? finding("leftovers.none") : row;
    const std::string all = joined(ids, " ");
    std::string fix = say(foreign.empty() ? "node.end-runs" : "node.ask-or-end-runs");
    std::optional<CheckAction> action;
    if (!ids.empty()) {
        fix += say("node.by-command", {{"command", "ringmaster nodes end-leftovers " +
                                                       nameOrNode(context.node.name) + ' ' + all}});
        action = CheckAction{CheckAction::Kind::kEndLeftovers, say("action.end-leftovers"), all};
    }
    if (!ended.empty())
        addFinding(row, "leftovers.ended", {{"runs", joined(ended, ", ")}, {"fix", fix}}, action);
    if (!foreign.empty())
        addFinding(row, "leftovers.foreign", {{"runs", joined(foreign, ", ")}, {"fix", fix}},
                   action);
    return row;
}

} // namespace

std::string otherRunWords(const RunReport& run, int64_t nowNs) {
    std::vector<std::string> facts = {ranksThere(run)};
    if (run.ranks > 0 && run.step > 0)
        facts.push_back(say("node.trains", {{"step", std::to_string(run.step)}}));
    else if (run.ranks > 0 && run.step == 0)
        facts.push_back(say("node.no-step"));
    if (run.sinceNs > 0)
        facts.push_back(say("node.began", {{"age", ageWords(nowNs - run.sinceNs)}}));
    if (!run.startedBy.empty())
        facts.push_back(say("node.started-by", {{"who", run.startedBy}}));
    return say("node.run", {{"run", run.runId}, {"facts", joined(facts, ", ")}});
}

std::optional<HomeRoom> roomOfHome(const NodeReport& report) {
    const DiskReport* disk = diskOf(report, report.home);
    // The agent asks for the folder itself, which may be a link or a bind mount. Those of earlier
    // releases told of disks alone.
    const bool isReported = report.homeTotalBytes >= 0;
    if (disk != nullptr && (!isReported || disk->totalBytes == report.homeTotalBytes))
        return HomeRoom{disk->freeBytes, disk->totalBytes, disk->path, disk->fileSystem};
    if (isReported)
        return HomeRoom{report.homeFreeBytes, report.homeTotalBytes, report.home, {}};
    return std::nullopt;
}

bool isTight(const NodeReport& report) {
    const auto room = roomOfHome(report);
    return room && room->freeBytes < kRoomForTrainer;
}

std::string runtimeFor(const NodeReport& report, const CheckContext& context) {
    for (const Runtime& runtime : gpuRuntimes())
        if (!report.gpus.empty() && obstacleTo(runtime, report).empty() && context.isHere(runtime))
            return runtime.name;
    return "cpu";
}

bool isReadyOnItsCpu(const NodeCheck& check) {
    return check.ready && std::ranges::any_of(check.rows, [](const CheckRow& row) {
               return row.id == kGpusRow && row.state == CheckRow::State::kWarning;
           });
}

CheckRow connectionRow(const std::string& where, bool isLocal, int64_t roundTripUs) {
    constexpr int64_t kSlowUs = 500'000;
    const Value address{"address", where};
    if (isLocal)
        return finding("connection.local");
    if (roundTripUs < 0)
        return finding("connection", {address});
    return finding(roundTripUs > kSlowUs ? "connection.slow" : "connection.timed",
                   {address, {"ms", decimal(roundedUp(static_cast<double>(roundTripUs) / 1000))}});
}

namespace {

/// What a person can do about a connection that waits for one. A key that is not the one known for
/// the host needs nothing that could be given here, and so has no button.
std::optional<CheckAction> answerTo(const ConnectFailure& failure) {
    using Kind = CheckAction::Kind;
    switch (failure.need) {
    case ConnectFailure::Need::kNothing:
        break;
    case ConnectFailure::Need::kTrustHostKey:
        return CheckAction{Kind::kTrustHostKey, say("action.trust"), failure.fingerprint};
    case ConnectFailure::Need::kPassword:
        return CheckAction{Kind::kEnterSecret, say("action.password"), {}};
    case ConnectFailure::Need::kPassphrase:
        return CheckAction{Kind::kEnterSecret, say("action.passphrase"), {}};
    }
    return std::nullopt;
}

/// Whether fixOf() says what the error advises after its "; ".
bool isReportedByFix(ConnectFailure::Cause cause) {
    using Cause = ConnectFailure::Cause;
    return cause == Cause::kName || cause == Cause::kRoute || cause == Cause::kJumpHost ||
           cause == Cause::kRefused || cause == Cause::kNoAnswer;
}

std::string firstPart(const std::string& message) {
    return message.substr(0, message.find("; "));
}

/// What to do in Ringmaster, or there.
std::string fixOf(ConnectFailure::Cause cause, const std::string& node) {
    using Cause = ConnectFailure::Cause;
    const Value edit{"edit", "ringmaster nodes edit " + node};
    switch (cause) {
    case Cause::kName:
        return say("ssh.fix-name", {edit});
    case Cause::kRoute:
        return say("ssh.fix-route", {edit});
    case Cause::kJumpHost:
        return say("ssh.fix-jump-host", {edit});
    case Cause::kRefused:
        return say("ssh.fix-refused", {edit});
    case Cause::kNoAnswer:
        return say("ssh.fix-no-answer");
    case Cause::kTurnedAway:
        return say("ssh.fix-turned-away");
    case Cause::kAlgorithms:
        return say("ssh.fix-algorithms");
    case Cause::kHostKey:
        return say("ssh.fix-host-key");
    case Cause::kLogin:
        return say("ssh.fix-login", {edit});
    case Cause::kOther:
        break;
    }
    return say("ssh.fix-other");
}

/// "release 0.0.9 (12.6 MB), which no run needs"
std::string otherAgentWords(const AgentReport& agent, const std::string& ours) {
    const Value release{"release", agent.release};
    const std::string which = agent.release.empty()   ? say("node.unknown-release")
                              : agent.release == ours ? say("node.same-release", {release})
                                                      : say("node.release", {release});
    const Value of{"release", which}, size{"size", bytesWords(agent.bytes)};
    return agent.keptFor.empty() ? say("node.agent-unneeded", {of, size})
                                 : say("node.agent-kept", {of, size, {"why", agent.keptFor}});
}

} // namespace

CheckRow refusedRow(const ConnectFailure& failure, const std::string& node) {
    using Need = ConnectFailure::Need;
    const Value title{"title", causeTitle(failure.cause)};
    const Value evidence{"evidence", isReportedByFix(failure.cause)
                                         ? firstPart(failure.error.message)
                                         : failure.error.message};
    switch (failure.need) {
    case Need::kTrustHostKey:
        return finding("connection.unknown-key", {title, evidence}, answerTo(failure));
    case Need::kPassword:
    case Need::kPassphrase:
        return finding("connection.secret", {title, evidence}, answerTo(failure));
    case Need::kNothing:
        break;
    }
    return finding("connection.refused", {title, evidence, {"fix", fixOf(failure.cause, node)}});
}

NodeCheck unansweredCheck(const std::string& node, const ConnectFailure& failure) {
    NodeCheck check;
    check.node = node;
    check.failure = failure;
    check.rows = {refusedRow(failure, node)};
    return check;
}

std::optional<CheckRow> otherAgentsRow(const NodeReport& report, const std::string& node) {
    if (report.otherAgents.empty())
        return std::nullopt;
    std::vector<std::string> agents, ids;
    std::string command = "ringmaster clean --node " + node;
    for (const AgentReport& agent : report.otherAgents) {
        agents.push_back(otherAgentWords(agent, report.release));
        if (!agent.keptFor.empty() || !isSha256(agent.id))
            continue;
        ids.push_back(agent.id.substr(0, 12));
        command += " --agent " + ids.back();
    }
    const Value all{"agents", joined(agents)};
    if (ids.empty())
        return finding("other-agents", {all});
    return finding("other-agents.unneeded", {all, {"command", command}},
                   CheckAction{CheckAction::Kind::kRemoveAgents, say("action.remove-agents"),
                               joined(ids, " ")});
}

CheckRow agentFaultRow(const Error& error, AgentFault fault) {
    return finding("agent", {{"error", error.message}, {"fix", adviceFor(error.code, fault)}});
}

std::string gpuWords(const std::vector<GpuReport>& gpus) {
    std::vector<std::string> models;
    for (size_t at = 0; at < gpus.size();) {
        const auto differs = [&](const GpuReport& gpu) { return gpu.name != gpus[at].name; };
        const auto begin = gpus.begin() + static_cast<std::ptrdiff_t>(at);
        const auto count = std::find_if(begin, gpus.end(), differs) - begin;
        const Value all{"count", std::to_string(count)}, name{"name", gpus[at].name},
            memory{"memory", memoryWords(gpus[at].memoryBytes)};
        const int capability = gpus[at].computeCapability;
        models.push_back(
            capability > 0
                ? say("node.gpus-of",
                      {all, name, memory, {"architecture", "sm_" + std::to_string(capability)}})
                : say("node.gpus", {all, name, memory}));
        at += static_cast<size_t>(count);
    }
    return joined(models);
}

std::string runtimeFix(const std::string& runtime) {
    return say("node.set-up-runtime", {{"command", "packaging/run --" + runtime}});
}

namespace {

/// The GPUs that train together by one runtime, as many as there can be.
std::vector<size_t> servedTogether(const NodeReport& report) {
    std::vector<size_t> most;
    for (const Runtime& runtime : gpuRuntimes()) {
        std::vector<size_t> served;
        for (size_t i = 0; i < report.gpus.size(); ++i) {
            NodeReport one = report;
            one.gpus = {report.gpus[i]};
            if (obstacleTo(runtime, one).empty())
                served.push_back(i);
        }
        if (served.size() > most.size())
            most = std::move(served);
    }
    return most;
}

std::string installDriver(int least) {
    return say("node.install-driver", {{"version", std::to_string(least)}});
}

} // namespace

std::string nameOrNode(const std::string& node) {
    return node.empty() ? "NODE" : node;
}

std::string fixOfGpus(const Node& node, const NodeReport& used, const std::vector<size_t>& places) {
    if (const int driver = driverToInstall(used); driver > 0)
        return installDriver(driver);
    std::vector<size_t> some = servedTogether(used);
    std::string install;
    if (some.empty()) {
        NodeReport newer = used;
        newer.driver.clear(); // stands in no way
        some = servedTogether(newer);
        newer = used;
        newer.gpus.clear();
        for (const size_t i : some)
            newer.gpus.push_back(used.gpus[i]);
        install = installDriver(driverToInstall(newer));
    }
    if (some.empty())
        return {};
    std::vector<std::string> numbers;
    for (const size_t i : some)
        numbers.push_back(std::to_string(i < places.size() ? places[i] : i));
    const std::string take =
        say("node.take-gpus", {{"command", "ringmaster nodes edit " + nameOrNode(node.name) +
                                               " --gpus " + joined(numbers, ",")}});
    return install.empty() ? take : listed({install, take});
}

std::string makeRoomOn(const std::string& node) {
    const std::string name = nameOrNode(node);
    return say("node.make-room", {{"node", name}, {"command", "ringmaster clean --node " + name}});
}

std::vector<CheckRow> rowsOf(const NodeReport& whole, const CheckContext& context) {
    const NodeReport report = usedPart(context.node, whole);
    const NeededVersions needed =
        context.needed ? *context.needed : neededByTrainer(runtimeFor(report, context));
    std::vector<CheckRow> rows = {systemRow(report), glibcRow(report, needed),
                                  libstdcxxRow(report, needed), machineRow(report),
                                  gpuRow(whole, report, context)};
    for (CheckRow& row : gpuHealthRows(whole, context.node, runtimeFor(report, context)))
        rows.push_back(std::move(row));
    rows.push_back(diskRow(report, context));
    if (auto row = foldersRow(report))
        rows.push_back(std::move(*row));
    for (CheckRow& row :
         std::vector<CheckRow>{logoutRow(report), limitsRow(report), leftoversRow(report, context),
                               clockRow(context), networkRow(report), publicRow(report, context)})
        rows.push_back(std::move(row));
    return rows;
}

namespace {

/// "Partition gpu": "2 of 3 nodes idle, 64 processors and 4 GPUs (a100) on each, time limit
/// 1-00:00:00".
CheckRow partitionRow(const SlurmPartition& partition) {
    const Value name{"name", partition.name}, idle{"idle", std::to_string(partition.idleNodes)},
        nodes{"nodes", counted(partition.nodes, "node")},
        processors{"processors", counted(partition.cpusPerNode, "processor")},
        limit{"limit", partition.timeLimit};
    if (partition.gpusPerNode <= 0)
        return finding("partition", {name, idle, nodes, processors, limit});
    const std::string gpus = counted(partition.gpusPerNode, "GPU");
    return finding(
        "partition.gpus",
        {name,
         idle,
         nodes,
         processors,
         limit,
         {"gpus", partition.gpu.empty()
                      ? gpus
                      : say("node.gpu-model", {{"gpus", gpus}, {"model", partition.gpu}})}});
}

CheckRow slurmRow(const SlurmReport& report, const std::string& wanted) {
    const Value version{"version", report.version};
    if (const SlurmPartition* chosen = partitionCalled(report, wanted))
        return finding(chosen->isUp ? "slurm" : "slurm.closed",
                       {version, {"partition", chosen->name}});
    return wanted.empty() ? finding("slurm.no-default", {version})
                          : finding("slurm.no-partition", {version, {"partition", wanted}});
}

} // namespace

std::vector<CheckRow> rowsOfSlurm(const SlurmReport& report, const std::string& wanted) {
    std::vector<CheckRow> rows{slurmRow(report, wanted)};
    for (const SlurmPartition& partition : report.partitions)
        rows.push_back(partitionRow(partition));
    return rows;
}

} // namespace rm
