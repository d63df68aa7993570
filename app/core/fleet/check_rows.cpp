// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_rows.h"

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

using State = CheckRow::State;

constexpr int64_t kGiB = 1024 * 1024 * 1024;
constexpr int64_t kMiB = 1024 * 1024;
constexpr int64_t kRoomForTrainer = kGiB;
constexpr const char* kGpusRow = "gpus"; ///< a warning where the node trains on its CPU

std::string decimal(double value) {
    return QLocale::c().toString(value, 'f', 1).toStdString();
}

std::string inSeconds(int64_t ns) {
    return decimal(static_cast<double>(std::abs(ns)) / 1e9) + " s";
}

/// At least the least that is told: not "within 0.0 s".
double roundedUp(double value) {
    return std::max(value, 0.1);
}

CheckRow systemRow(const NodeReport& report) {
    return goodRow("system", "Operating system", report.os + ", kernel " + report.kernel);
}

CheckRow glibcRow(const NodeReport& report, const NeededVersions& needed) {
    const std::string wants = needed.glibc.empty() ? "" : "; the trainer needs " + needed.glibc;
    CheckRow row = goodRow("glibc", "glibc", report.glibc + wants);
    if (needed.glibc.empty() || !isOlderVersion(report.glibc, needed.glibc))
        return row;
    row.state = State::kBad;
    row.cause = "the trainer cannot start there, as its system is older than the trainer's";
    row.fix = "update the node to a system with glibc " + needed.glibc +
              " or later (Debian 12, Ubuntu 22.04, RHEL 9 have 2.34 to 2.36), or leave it out";
    return row;
}

/// What installs the package there; nullopt: not known of this system.
std::optional<CheckAction> installLibstdcxx(const std::string& os) {
    const auto is = [&os](const char* name) { return os.find(name) != std::string::npos; };
    if (is("Debian") || is("Ubuntu") || is("Mint"))
        return copyCommand("sudo apt-get install libstdc++6");
    if (is("Red Hat") || is("Rocky") || is("Alma") || is("CentOS") || is("Fedora"))
        return copyCommand("sudo dnf install libstdc++");
    return std::nullopt;
}

std::string orInstall(const std::optional<CheckAction>& action, const std::string& words) {
    return action ? words + ": " + action->argument : words;
}

CheckRow libstdcxxRow(const NodeReport& report, const NeededVersions& needed) {
    const std::string wants =
        needed.libstdcxx.empty() ? "" : "; the trainer needs GLIBCXX " + needed.libstdcxx;
    CheckRow row = goodRow("libstdcxx", "libstdc++", "GLIBCXX " + report.libstdcxx + wants);
    if (report.libstdcxx.empty()) {
        row.state = State::kBad;
        row.evidence = "no libstdc++.so.6 where ld.so looks" + wants;
        row.cause = "the trainer cannot start there: it takes this library from the node";
        row.action = installLibstdcxx(report.os);
        row.fix = orInstall(row.action, "install the C++ standard library of GCC there");
    } else if (!needed.libstdcxx.empty() && isOlderVersion(report.libstdcxx, needed.libstdcxx)) {
        row.state = State::kBad;
        row.cause = "the trainer cannot start there: it takes this library from the node, and "
                    "that is too old";
        row.fix = "update the node to a system with a later libstdc++ (GCC 12 has 3.4.30), or "
                  "leave it out";
    }
    return row;
}

CheckRow machineRow(const NodeReport& report) {
    constexpr int64_t kLittle = 2 * kGiB;
    CheckRow row = goodRow("machine", "CPU and memory",
                           report.cpuModel + ", " + counted(report.cores, "core") + ", " +
                               memoryWords(report.memoryBytes));
    if (report.memoryBytes < kLittle) {
        row.state = State::kWarning;
        row.cause = "little memory for training";
        row.fix = "keep to the smallest models there, or leave the node out";
    }
    return row;
}

CheckRow gpuRow(const NodeReport& whole, const NodeReport& report, const CheckContext& context) {
    CheckRow row = goodRow(kGpusRow, "GPUs and driver", "no NVIDIA GPU: it trains on its CPU");
    if (report.gpus.empty() && report.driver.empty())
        return row;
    if (report.gpus.empty()) {
        row.state = State::kWarning;
        row.evidence = "driver " + report.driver + " but no GPU";
        row.cause = "it trains on its CPU";
        row.fix = "see there what nvidia-smi says: a GPU may be lost, or kept from this user";
        return row;
    }
    row.evidence = gpuWords(report.gpus) + "; driver " + report.driver;
    std::string missing;
    for (const Runtime& runtime : gpuRuntimes()) {
        if (!obstacleTo(runtime, report).empty())
            continue;
        if (context.isHere(runtime)) {
            row.evidence += "; runtime " + runtime.name;
            if (!missing.empty())
                row.evidence += ", while the newer " + missing +
                                " would run, too (packaging/run --" + missing + ')';
            return row;
        }
        if (missing.empty())
            missing = runtime.name;
    }
    row.state = State::kWarning;
    row.cause = "it trains on its CPU, as " + whyNoRuntime(report);
    const std::string fix = fixOfGpus(context.node, report, usedGpus(context.node, whole));
    row.fix = (fix.empty() ? "no driver changes that: " : fix + "; or ") +
              "let the node train on its CPU";
    if (missing.empty())
        return row;
    row.cause = "it trains on its CPU, as this computer lacks the runtime " + missing;
    row.fix = runtimeFix(missing);
    row.action = copyCommand("packaging/run --" + missing);
    return row;
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
    CheckRow row = goodRow("disk", "Disk", {});
    const auto room = roomOfHome(report);
    if (!room) {
        row.state = State::kWarning;
        row.evidence = "the disk of " + report.home + " was not found";
        row.cause = "whether the trainer has room there is not known";
        row.fix = "see there with df " + report.home;
        return row;
    }
    row.evidence = bytesWords(room->freeBytes) + " free of " + bytesWords(room->totalBytes) +
                   " for " + report.home +
                   (room->fileSystem.empty() ? std::string() : " (" + room->fileSystem + ')');
    if (room->freeBytes >= kComfortable)
        return row;
    const int64_t needed = toSend ? *toSend + kForJournals : kRoomForTrainer;
    const bool isTooLittle = room->freeBytes < needed;
    const bool isTrainerThere = toSend == 0;
    row.state = isTooLittle ? State::kBad : State::kWarning;
    row.cause = !isTooLittle     ? "little for checkpoints"
                : isTrainerThere ? "too little for journals and checkpoints"
                                 : "too little for the trainer and checkpoints";
    row.fix = makeRoomOn(context.node.name) +
              ", or name a larger folder as RINGMASTER_HOME in that machine's /etc/environment";
    return row;
}

/// Room and permissions may be there, and yet no file can be written: a disk that had errors is
/// mounted read-only by its system. nullopt: nothing is told against it.
std::optional<CheckRow> foldersRow(const NodeReport& report) {
    if (report.homeProblem.empty() && report.stateProblem.empty())
        return std::nullopt;
    const bool isBoth = !report.homeProblem.empty() && !report.stateProblem.empty() &&
                        report.homeProblem != report.stateProblem;
    const std::string problems = isBoth ? report.homeProblem + "; " + report.stateProblem
                                 : report.homeProblem.empty() ? report.stateProblem
                                                              : report.homeProblem;
    const std::string variables = report.homeProblem.empty() ? "XDG_STATE_HOME"
                                  : report.stateProblem.empty()
                                      ? "RINGMASTER_HOME"
                                      : "RINGMASTER_HOME and XDG_STATE_HOME";
    const auto says = [&problems](const char* cause) {
        return problems.find(cause) != std::string::npos;
    };
    const bool isFull = says("No space left") || says("quota");
    return CheckRow{"folders",
                    State::kBad,
                    "Folders",
                    problems,
                    report.homeProblem.empty()
                        ? "no run can be started there: it writes its journal there"
                        : "nothing can be sent to it, and no run started there",
                    (isFull ? "make room there (see df -h, df -i and quota), or name a folder on "
                              "another disk as "
                            : "let its user write there (see ls -ld and mount: a disk with errors "
                              "is mounted read-only), or name a folder of that user as ") +
                        variables + " in that machine's /etc/environment, then check again"};
}

CheckRow clockRow(const CheckContext& context) {
    constexpr int64_t kTolerated = 2'000'000'000;
    const int64_t ahead = context.aheadNs;
    if (std::abs(ahead) <= context.uncertainNs + kTolerated)
        return goodRow("clock", "Clock",
                       "within " +
                           decimal(roundedUp(
                               static_cast<double>(std::abs(ahead) + context.uncertainNs) / 1e9)) +
                           " s of this computer's");
    return {"clock",
            State::kWarning,
            "Clock",
            inSeconds(ahead) + (ahead > 0 ? " ahead of" : " behind") + " this computer's",
            "times of its events are shifted",
            "set it with NTP: sudo timedatectl set-ntp true",
            copyCommand("sudo timedatectl set-ntp true")};
}

std::string interfaceWords(const InterfaceReport& interface) {
    std::string words =
        interface.name + ' ' + interface.address + '/' + std::to_string(interface.prefix);
    if (interface.speedMbit > 0)
        words += ", " + std::to_string(interface.speedMbit) + " Mbit/s";
    return words;
}

CheckRow networkRow(const NodeReport& report) {
    std::string words;
    for (const InterfaceReport& interface : report.interfaces)
        if (isForOthers(interface))
            words += (words.empty() ? "" : "; ") + interfaceWords(interface);
    if (!words.empty())
        return goodRow("network", "Network", words);
    return {"network",
            State::kWarning,
            "Network",
            "only loopback",
            "it can train alone, not with others",
            "connect it to the network of the other nodes, or bring the interface up"};
}

/// PyTorch's store, Gloo and NCCL take connections of anybody.
CheckRow publicRow(const NodeReport& report, const CheckContext& context) {
    std::string open;
    for (const InterfaceReport& interface : report.interfaces)
        if (isForOthers(interface) && isPublic(interface.address))
            open += (open.empty() ? "" : ", ") + interface.address + " (" + interface.name + ')';
    if (open.empty())
        return goodRow("public-address", "Public address", "none: all its addresses are private");
    return {"public-address",
            State::kWarning,
            "Public address",
            open,
            "while ranks of several nodes meet there, anybody who reaches the address can "
            "connect: PyTorch's rendezvous, Gloo and NCCL know no password",
            publicAddressFix(context.lastNetwork ? context.lastNetwork() : std::nullopt,
                             context.node.name, report.interfaces)};
}

/// A node's own word may become a part of a command line only if no shell reads more into it.
bool isPlainWord(const std::string& text) {
    return !text.empty() && text.front() != '-' &&
           text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                  "0123456789._-") == std::string::npos;
}

CheckRow logoutRow(const NodeReport& report) {
    const std::string& user = report.user;
    CheckRow row = goodRow("logout", "Logout", "a run goes on when " + user + " logs out");
    switch (report.atLogout) {
    case AtLogout::kEndWithSession:
        row.state = State::kWarning;
        row.evidence = "KillUserProcesses=yes in logind.conf";
        row.cause = "a run ends there when " + user +
                    " logs out, as when the connection is closed: systemd-logind kills what is "
                    "left behind";
        row.fix = "as root add \"KillExcludeUsers=root " + user +
                  "\" to [Login] in /etc/systemd/logind.conf, then run systemctl restart "
                  "systemd-logind";
        return row;
    case AtLogout::kEndWithUserManager:
        row.state = State::kWarning;
        row.evidence = user + " does not linger";
        row.cause = "a run ends there with the last login of " + user +
                    ", as it belongs to the user's own systemd";
        row.fix = "run there: loginctl enable-linger";
        if (isPlainWord(user)) {
            row.fix += ' ' + user;
            row.action = copyCommand("loginctl enable-linger " + user);
        }
        return row;
    case AtLogout::kUnknown:
        row.evidence = "what happens to a run at a logout was not found out";
        return row;
    case AtLogout::kGoOn:
        break;
    }
    return row;
}

std::string limitWords(int64_t limit, const std::string& value) {
    return limit < 0 ? "unlimited" : limit == 0 ? "unknown" : value;
}

/// Where it has GPUs, NCCL passes sums between those of one node through /dev/shm.
CheckRow limitsRow(const NodeReport& report) {
    constexpr int64_t kFewFiles = 1024;
    constexpr int64_t kLittleShared = 256 * kMiB;
    CheckRow row = goodRow(
        "limits", "Limits",
        "locked memory " + limitWords(report.memlockBytes, memoryWords(report.memlockBytes)) +
            ", open files " + limitWords(report.openFiles, std::to_string(report.openFiles)) +
            ", /dev/shm " + memoryWords(report.shmBytes));
    const auto warn = [&row](const std::string& cause, const std::string& fix) {
        row.state = State::kWarning;
        row.cause += (row.cause.empty() ? "" : "; ") + cause;
        row.fix += (row.fix.empty() ? "" : "; ") + fix;
    };
    if (!report.rdmaDevices.empty() && report.memlockBytes >= 0)
        warn("NCCL cannot register memory with " + report.rdmaDevices.front() +
                 " and falls back to TCP",
             "add \"* - memlock unlimited\" to /etc/security/limits.conf, then log in again");
    if (report.openFiles > 0 && report.openFiles < kFewFiles)
        warn("ranks of many nodes run out of open files",
             "add \"* - nofile 65536\" to /etc/security/limits.conf, then log in again");
    if (report.gpus.size() > 1 && report.shmFreeBytes < kLittleShared)
        warn(
            "only " + memoryWords(report.shmFreeBytes) +
                " of it are free, and NCCL between the GPUs of this node may fail with a bus error",
            "remove what lies there, or give the container more: --shm-size=8g");
    return row;
}

std::string runWords(const RunReport& run) {
    return run.runId + " (" + (run.ranks > 0 ? counted(run.ranks, "rank") : "its agent alone") +
           ')';
}

std::string ageWords(int64_t ns) {
    const int64_t seconds = std::max<int64_t>(0, ns / 1'000'000'000);
    constexpr int64_t kMinute = 60, kHour = 3600, kDay = 86400;
    return seconds < 2 * kMinute ? std::to_string(seconds) + " s"
           : seconds < 2 * kHour ? std::to_string(seconds / kMinute) + " min"
           : seconds < 2 * kDay  ? std::to_string(seconds / kHour) + " h"
                                 : std::to_string(seconds / kDay) + " days";
}

/// The row of processes there that are not of a live run of this Ringmaster.
CheckRow leftoversRow(const NodeReport& report, const CheckContext& context) {
    std::string live, ended, foreign, ids;
    for (const RunReport& run : report.runs) {
        const auto found = context.runs.find(run.runId);
        const bool isForeign = found == context.runs.end();
        const bool isLive = !isForeign && found->second == KnownRun::kLive;
        std::string& list = isLive ? live : isForeign ? foreign : ended;
        list += (list.empty() ? "" : ", ") +
                (isForeign ? otherRunWords(run, report.wallNs) : runWords(run));
        if (!isLive && isPlainWord(run.runId))
            ids += (ids.empty() ? "" : " ") + run.runId;
    }
    CheckRow row = goodRow("leftovers", "Runs there",
                           live.empty() ? "none" : "live, of this Ringmaster: " + live);
    if (ended.empty() && foreign.empty())
        return row;
    row.state = State::kWarning;
    const auto add = [](std::string& text, const std::string& more) {
        text += (text.empty() ? "" : "; ") + more;
    };
    if (live.empty())
        row.evidence.clear();
    if (!ended.empty()) {
        add(row.evidence, "left over: " + ended);
        add(row.cause, "they ended by what is known here, yet hold memory and processors there");
    }
    if (!foreign.empty()) {
        add(row.evidence, "of another Ringmaster: " + foreign);
        add(row.cause, "what another computer or another user's folder started is not known here, "
                       "and shares the node with your run");
    }
    row.fix = foreign.empty() ? "end just those"
                              : "ask who started what is of another Ringmaster, or end just those";
    if (ids.empty())
        return row;
    row.fix += ": ringmaster nodes end-leftovers " + nameOrNode(context.node.name) + ' ' + ids;
    row.action = CheckAction{CheckAction::Kind::kEndLeftovers, "End leftovers", ids};
    return row;
}

} // namespace

std::string otherRunWords(const RunReport& run, int64_t nowNs) {
    std::string words = runWords(run);
    words.pop_back();
    if (run.ranks > 0 && run.step >= 0)
        words +=
            run.step > 0 ? ", trains, at step " + std::to_string(run.step) : ", does not train yet";
    if (run.sinceNs > 0)
        words += ", began " + ageWords(nowNs - run.sinceNs) + " ago";
    if (!run.startedBy.empty())
        words += ", started by " + run.startedBy;
    return words + ')';
}

std::optional<HomeRoom> roomOfHome(const NodeReport& report) {
    const DiskReport* disk = diskOf(report, report.home);
    // The agent asks for the folder itself, which may be a link or a bind mount. Those of earlier
    // releases told of disks alone.
    const bool isAsked = report.homeTotalBytes >= 0;
    if (disk != nullptr && (!isAsked || disk->totalBytes == report.homeTotalBytes))
        return HomeRoom{disk->freeBytes, disk->totalBytes, disk->path, disk->fileSystem};
    if (isAsked)
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
               return row.id == kGpusRow && row.state == State::kWarning;
           });
}

CheckRow connectionRow(const std::string& where, bool isLocal, int64_t roundTripUs) {
    constexpr int64_t kSlowUs = 500'000;
    if (isLocal)
        return goodRow("connection", "Connection", "this computer, no SSH needed");
    CheckRow row = goodRow("connection", "SSH and host key", where + ", host key known");
    const double roundTripMs = static_cast<double>(roundTripUs) / 1000;
    if (roundTripUs >= 0)
        row.evidence += ", round trip " + decimal(roundedUp(roundTripMs)) + " ms";
    if (roundTripUs > kSlowUs) {
        row.state = State::kWarning;
        row.cause = "commands and curves come late; training itself does not wait for them";
        row.fix = "look for a nearer or less busy way to the node, such as another jump host";
    }
    return row;
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
        return CheckAction{Kind::kTrustHostKey, "Trust…", failure.fingerprint};
    case ConnectFailure::Need::kPassword:
        return CheckAction{Kind::kEnterSecret, "Enter password…", {}};
    case ConnectFailure::Need::kPassphrase:
        return CheckAction{Kind::kEnterSecret, "Enter passphrase…", {}};
    }
    return std::nullopt;
}

/// Whether fixOf() says what the error advises after its "; ".
bool isToldByFix(ConnectFailure::Cause cause) {
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
    const std::string byEdit = " with Edit, or with ringmaster nodes edit " + node;
    switch (cause) {
    case Cause::kName:
        return "correct its address" + byEdit +
               " --ssh; or join the network or VPN that knows the name";
    case Cause::kRoute:
        return "join its network or VPN, or name a jump host" + byEdit + " --jump";
    case Cause::kJumpHost:
        return "log in to the jump host once with ssh in a terminal, trust its key there and add "
               "yours to the SSH agent: ssh must get past it without a question; or name another" +
               byEdit + " --jump";
    case Cause::kRefused:
        return "start sshd there, or correct the port" + byEdit + " --ssh";
    case Cause::kNoAnswer:
        return "switch it on, or let its firewall admit this computer; then check again";
    case Cause::kTurnedAway:
        return "look into its sshd's log: MaxStartups, or a guard such as fail2ban, hangs up";
    case Cause::kAlgorithms:
        return "let its sshd offer such an algorithm, then check again";
    case Cause::kHostKey:
        return "compare the key with the machine's own before anything else";
    case Cause::kLogin:
        return "name a user or a key file that it accepts" + byEdit + " --ssh or --key";
    case Cause::kOther:
        break;
    }
    return "mend what the message names, then check again";
}

/// "release 0.0.9 (12.6 MB), which no run needs"
std::string otherAgentWords(const AgentReport& agent, const std::string& ours) {
    const std::string release = agent.release.empty()   ? "of an unknown release"
                                : agent.release == ours ? "another build of release " + ours
                                                        : "release " + agent.release;
    return release + " (" + bytesWords(agent.bytes) + ")" +
           (agent.keptFor.empty() ? ", which no run needs" : ", kept: " + agent.keptFor);
}

} // namespace

CheckRow refusedRow(const ConnectFailure& failure, const std::string& node) {
    using Need = ConnectFailure::Need;
    CheckRow row{"connection",
                 State::kBad,
                 causeTitle(failure.cause),
                 isToldByFix(failure.cause) ? firstPart(failure.error.message)
                                            : failure.error.message,
                 "nothing can be sent to it or asked of it",
                 fixOf(failure.cause, node),
                 answerTo(failure)};
    if (failure.need != Need::kNothing) {
        row.state = State::kWarning;
        row.cause = failure.need == Need::kTrustHostKey
                        ? "nothing is sent to it before you trust its key"
                        : "nothing can be asked of it before you enter it";
        row.fix = failure.need == Need::kTrustHostKey
                      ? "compare the fingerprint with the machine's own, then trust it"
                      : "enter what it asks for";
    }
    return row;
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
    CheckRow row = goodRow("other-agents", "Other agents", {});
    std::string ids, options;
    for (const AgentReport& agent : report.otherAgents) {
        row.evidence += (row.evidence.empty() ? "" : "; ") + otherAgentWords(agent, report.release);
        if (!agent.keptFor.empty() || !isSha256(agent.id))
            continue;
        const std::string id = agent.id.substr(0, 12);
        ids += (ids.empty() ? "" : " ") + id;
        options += " --agent " + id;
    }
    if (ids.empty())
        return row;
    row.state = State::kWarning;
    row.cause =
        "a Ringmaster of another release sent what no run needs any more; if it comes back, "
        "it sends its own again";
    row.fix = "remove just that: ringmaster clean --node " + node + options;
    row.action = CheckAction{CheckAction::Kind::kRemoveAgents, "Remove", ids};
    return row;
}

CheckRow agentFaultRow(const Error& error, AgentFault fault) {
    return {"agent",
            State::kBad,
            "Agent",
            error.message,
            "without its agent nothing can be started there or known of it",
            adviceFor(error.code, fault)};
}

std::string gpuWords(const std::vector<GpuReport>& gpus) {
    std::string words;
    for (size_t at = 0; at < gpus.size();) {
        const auto differs = [&](const GpuReport& gpu) { return gpu.name != gpus[at].name; };
        const auto begin = gpus.begin() + static_cast<std::ptrdiff_t>(at);
        const auto count = std::find_if(begin, gpus.end(), differs) - begin;
        words += (words.empty() ? "" : "; ") + std::to_string(count) + " x " + gpus[at].name +
                 ", " + memoryWords(gpus[at].memoryBytes);
        if (gpus[at].computeCapability > 0)
            words += ", sm_" + std::to_string(gpus[at].computeCapability);
        at += static_cast<size_t>(count);
    }
    return words;
}

std::string runtimeFix(const std::string& runtime) {
    return "set that up on this computer: packaging/run --" + runtime;
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
    return "install a driver of " + std::to_string(least) + " or later there";
}

} // namespace

std::string nameOrNode(const std::string& node) {
    return node.empty() ? "NODE" : node;
}

std::string fixOfGpus(const Node& node, const NodeReport& used, const std::vector<size_t>& places) {
    if (const int driver = driverToInstall(used); driver > 0)
        return installDriver(driver);
    std::vector<size_t> some = servedTogether(used);
    std::string first;
    if (some.empty()) {
        NodeReport newer = used;
        newer.driver.clear(); // stands in no way
        some = servedTogether(newer);
        newer = used;
        newer.gpus.clear();
        for (const size_t i : some)
            newer.gpus.push_back(used.gpus[i]);
        first = installDriver(driverToInstall(newer)) + " and ";
    }
    std::string list;
    for (const size_t i : some)
        list += (list.empty() ? "" : ",") + std::to_string(i < places.size() ? places[i] : i);
    return list.empty() ? std::string()
                        : first +
                              "take only the GPUs that a runtime serves, with Edit or ringmaster "
                              "nodes edit " +
                              nameOrNode(node.name) + " --gpus " + list;
}

std::string makeRoomOn(const std::string& node) {
    const std::string name = nameOrNode(node);
    return "make room on " + name + " (Clean up, or ringmaster clean --node " + name +
           ", removes what no run needs)";
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

/// "2 of 3 nodes idle, 64 processors and 4 GPUs (a100) on each, time limit 1-00:00:00".
std::string partitionWords(const SlurmPartition& partition) {
    std::string words = std::to_string(partition.idleNodes) + " of " +
                        counted(partition.nodes, "node") + " idle, " +
                        counted(partition.cpusPerNode, "processor");
    if (partition.gpusPerNode > 0)
        words += " and " + counted(partition.gpusPerNode, "GPU") +
                 (partition.gpu.empty() ? "" : " (" + partition.gpu + ")");
    return words + " on each, time limit " + partition.timeLimit;
}

} // namespace

std::vector<CheckRow> rowsOfSlurm(const SlurmReport& report, const std::string& wanted) {
    const SlurmPartition* chosen = partitionCalled(report, wanted);
    CheckRow row = goodRow("slurm", "Slurm", report.version);
    if (chosen)
        row.evidence += ", jobs go to partition " + chosen->name;
    if (!chosen || !chosen->isUp) {
        row.state = CheckRow::State::kBad;
        row.cause = chosen           ? "That partition takes no jobs at the moment."
                    : wanted.empty() ? "It has no default partition."
                                     : "It has no partition " + wanted + '.';
        row.fix = chosen ? "Choose another one, or ask who runs the cluster."
                         : "Name one of those below, with the option --partition=NAME for sbatch.";
    }
    std::vector<CheckRow> rows{std::move(row)};
    for (const SlurmPartition& partition : report.partitions)
        rows.push_back(
            goodRow("partition", "Partition " + partition.name, partitionWords(partition)));
    return rows;
}

} // namespace rm
