// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// What the check of a node says of its system, disks, network and the runs that live there.
struct NodeTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr FindingText kFindings[] = {
        {"system", kGood, QT_TR_NOOP("Operating system"), QT_TR_NOOP("{os}, kernel {kernel}")},

        {"glibc", kGood, QT_TR_NOOP("glibc"), QT_TR_NOOP("{glibc}")},
        {"glibc.suffices", kGood, "", QT_TR_NOOP("{glibc}; the trainer needs {needed}")},
        {"glibc.old", kBad, "", QT_TR_NOOP("{glibc}; the trainer needs {needed}"),
         QT_TR_NOOP("the trainer cannot start there, as its system is older than the trainer's"),
         QT_TR_NOOP("update the node to a system with glibc {needed} or later (Debian 12, Ubuntu "
                    "22.04, RHEL 9 have 2.34 to 2.36), or leave it out")},

        {"libstdcxx", kGood, QT_TR_NOOP("libstdc++"), QT_TR_NOOP("GLIBCXX {version}{needed}")},
        {"libstdcxx.old", kBad, "", QT_TR_NOOP("GLIBCXX {version}{needed}"),
         QT_TR_NOOP("the trainer cannot start there: it takes this library from the node, and that "
                    "is too old"),
         QT_TR_NOOP("update the node to a system with a later libstdc++ (GCC 12 has 3.4.30), or "
                    "leave it out")},
        {"libstdcxx.missing", kBad, "", QT_TR_NOOP("no libstdc++.so.6 where ld.so looks{needed}"),
         QT_TR_NOOP("the trainer cannot start there: it takes this library from the node"),
         QT_TR_NOOP("install the C++ standard library of GCC there{command}")},

        {"machine", kGood, QT_TR_NOOP("CPU and memory"), QT_TR_NOOP("{cpu}, {cores}, {memory}")},
        {"machine.little", kWarning, "", QT_TR_NOOP("{cpu}, {cores}, {memory}"),
         QT_TR_NOOP("little memory for training"),
         QT_TR_NOOP("keep to the smallest models there, or leave the node out")},

        {"gpus.none", kGood, QT_TR_NOOP("GPUs and driver"),
         QT_TR_NOOP("no NVIDIA GPU: it trains on its CPU")},
        {"gpus.driver-alone", kWarning, "", QT_TR_NOOP("driver {driver} but no GPU"),
         QT_TR_NOOP("it trains on its CPU"),
         QT_TR_NOOP("see there what nvidia-smi says: a GPU may be lost, or kept from this user")},
        {"gpus", kGood, "", QT_TR_NOOP("{gpus}; driver {driver}; runtime {runtime}")},
        {"gpus.newer-runtime", kGood, "",
         QT_TR_NOOP(
             "{gpus}; driver {driver}; runtime {runtime}, while the newer {newer} would run, "
             "too (packaging/run --{newer})")},
        {"gpus.no-runtime", kWarning, "", QT_TR_NOOP("{gpus}; driver {driver}"),
         QT_TR_NOOP("it trains on its CPU, as {why}"),
         QT_TR_NOOP("{fix}; or let the node train on its CPU")},
        {"gpus.unserved", kWarning, "", QT_TR_NOOP("{gpus}; driver {driver}"),
         QT_TR_NOOP("it trains on its CPU, as {why}"),
         QT_TR_NOOP("no driver changes that: let the node train on its CPU")},
        {"gpus.missing-runtime", kWarning, "", QT_TR_NOOP("{gpus}; driver {driver}"),
         QT_TR_NOOP("it trains on its CPU, as this computer lacks the runtime {runtime}"),
         QT_TR_NOOP("{fix}")},

        {"disk", kGood, QT_TR_NOOP("Disk"), QT_TR_NOOP("{room}")},
        {"disk.unknown", kWarning, "", QT_TR_NOOP("the disk of {home} was not found"),
         QT_TR_NOOP("whether the trainer has room there is not known"),
         QT_TR_NOOP("see there with df {home}")},
        {"disk.little", kWarning, "", QT_TR_NOOP("{room}"), QT_TR_NOOP("little for checkpoints"),
         QT_TR_NOOP("{make-room}, or name a larger folder as RINGMASTER_HOME in that machine's "
                    "/etc/environment")},
        {"disk.too-little", kBad, "", QT_TR_NOOP("{room}"),
         QT_TR_NOOP("too little for the trainer and checkpoints"),
         QT_TR_NOOP("{make-room}, or name a larger folder as RINGMASTER_HOME in that machine's "
                    "/etc/environment")},
        {"disk.too-little-for-runs", kBad, "", QT_TR_NOOP("{room}"),
         QT_TR_NOOP("too little for journals and checkpoints"),
         QT_TR_NOOP("{make-room}, or name a larger folder as RINGMASTER_HOME in that machine's "
                    "/etc/environment")},

        {"folders.full", kBad, QT_TR_NOOP("Folders"), QT_TR_NOOP("{problems}"),
         QT_TR_NOOP("{cause}"),
         QT_TR_NOOP(
             "make room there (see df -h, df -i and quota), or name a folder on another disk "
             "as {variables} in that machine's /etc/environment, then check again")},
        {"folders.closed", kBad, "", QT_TR_NOOP("{problems}"), QT_TR_NOOP("{cause}"),
         QT_TR_NOOP("let its user write there (see ls -ld and mount: a disk with errors is mounted "
                    "read-only), or name a folder of that user as {variables} in that machine's "
                    "/etc/environment, then check again")},

        {"clock", kGood, QT_TR_NOOP("Clock"), QT_TR_NOOP("within {most} s of this computer's")},
        {"clock.ahead", kWarning, "", QT_TR_NOOP("{seconds} s ahead of this computer's"),
         QT_TR_NOOP("times of its events are shifted"), QT_TR_NOOP("set it with NTP: {command}")},
        {"clock.behind", kWarning, "", QT_TR_NOOP("{seconds} s behind this computer's"),
         QT_TR_NOOP("times of its events are shifted"), QT_TR_NOOP("set it with NTP: {command}")},

        {"network", kGood, QT_TR_NOOP("Network"), QT_TR_NOOP("{interfaces}")},
        {"network.loopback", kWarning, "", QT_TR_NOOP("only loopback"),
         QT_TR_NOOP("it can train alone, not with others"),
         QT_TR_NOOP("connect it to the network of the other nodes, or bring the interface up")},

        {"public-address", kGood, QT_TR_NOOP("Public address"),
         QT_TR_NOOP("none: all its addresses are private")},
        {"public-address.open", kWarning, "", QT_TR_NOOP("{addresses}"),
         QT_TR_NOOP("while ranks of several nodes meet there, anybody who reaches the address can "
                    "connect: PyTorch's rendezvous, Gloo and NCCL know no password"),
         QT_TR_NOOP("{fix}")},

        {"logout", kGood, QT_TR_NOOP("Logout"), QT_TR_NOOP("a run goes on when {user} logs out")},
        {"logout.unknown", kGood, "",
         QT_TR_NOOP("what happens to a run at a logout was not found out")},
        {"logout.ends-with-session", kWarning, "",
         QT_TR_NOOP("KillUserProcesses=yes in logind.conf"),
         QT_TR_NOOP("a run ends there when {user} logs out, as when the connection is closed: "
                    "systemd-logind kills what is left behind"),
         QT_TR_NOOP("as root add \"KillExcludeUsers=root {user}\" to [Login] in "
                    "/etc/systemd/logind.conf, then run systemctl restart systemd-logind")},
        {"logout.ends-with-last-login", kWarning, "", QT_TR_NOOP("{user} does not linger"),
         QT_TR_NOOP("a run ends there with the last login of {user}, as it belongs to the user's "
                    "own systemd"),
         QT_TR_NOOP("run there: {command}")},

        {"limits", kGood, QT_TR_NOOP("Limits"),
         QT_TR_NOOP("locked memory {locked}, open files {files}, /dev/shm {shared}")},
        {"limits.locked-memory", kWarning, "", "",
         QT_TR_NOOP("NCCL cannot register memory with {device} and falls back to TCP"),
         QT_TR_NOOP(
             "add \"* - memlock unlimited\" to /etc/security/limits.conf, then log in again")},
        {"limits.few-files", kWarning, "", "",
         QT_TR_NOOP("ranks of many nodes run out of open files"),
         QT_TR_NOOP("add \"* - nofile 65536\" to /etc/security/limits.conf, then log in again")},
        {"limits.little-shared", kWarning, "", "",
         QT_TR_NOOP("only {free} of it are free, and NCCL between the GPUs of this node may fail "
                    "with a bus error"),
         QT_TR_NOOP("remove what lies there, or give the container more: --shm-size=8g")},

        {"leftovers.none", kGood, QT_TR_NOOP("Runs there"), QT_TR_NOOP("none")},
        {"leftovers.live", kGood, "", QT_TR_NOOP("live, of this Ringmaster: {runs}")},
        {"leftovers.ended", kWarning, "", QT_TR_NOOP("left over: {runs}"),
         QT_TR_NOOP("they ended by what is known here, yet hold memory and processors there"),
         QT_TR_NOOP("{fix}")},
        {"leftovers.foreign", kWarning, "", QT_TR_NOOP("of another Ringmaster: {runs}"),
         QT_TR_NOOP("what another computer or another user's folder started is not known here, and "
                    "shares the node with your run"),
         QT_TR_NOOP("{fix}")},

        {"connection.local", kGood, QT_TR_NOOP("Connection"),
         QT_TR_NOOP("this computer, no SSH needed")},
        {"connection", kGood, QT_TR_NOOP("SSH and host key"),
         QT_TR_NOOP("{address}, host key known")},
        {"connection.timed", kGood, "",
         QT_TR_NOOP("{address}, host key known, round trip {ms} ms")},
        {"connection.slow", kWarning, "",
         QT_TR_NOOP("{address}, host key known, round trip {ms} ms"),
         QT_TR_NOOP("commands and curves come late; training itself does not wait for them"),
         QT_TR_NOOP("look for a nearer or less busy way to the node, such as another jump host")},
        {"connection.refused", kBad, QT_TR_NOOP("{title}"), QT_TR_NOOP("{evidence}"),
         QT_TR_NOOP("nothing can be sent to it or asked of it"), QT_TR_NOOP("{fix}")},
        {"connection.unknown-key", kWarning, QT_TR_NOOP("{title}"), QT_TR_NOOP("{evidence}"),
         QT_TR_NOOP("nothing is sent to it before you trust its key"),
         QT_TR_NOOP("compare the fingerprint with the machine's own, then trust it")},
        {"connection.secret", kWarning, QT_TR_NOOP("{title}"), QT_TR_NOOP("{evidence}"),
         QT_TR_NOOP("nothing can be asked of it before you enter it"),
         QT_TR_NOOP("enter what it asks for")},

        {"agent", kBad, QT_TR_NOOP("Agent"), QT_TR_NOOP("{error}"),
         QT_TR_NOOP("without its agent nothing can be started there or known of it"),
         QT_TR_NOOP("{fix}")},

        {"other-agents", kGood, QT_TR_NOOP("Other agents"), QT_TR_NOOP("{agents}")},
        {"other-agents.unneeded", kWarning, "", QT_TR_NOOP("{agents}"),
         QT_TR_NOOP("a Ringmaster of another release sent what no run needs any more; if it comes "
                    "back, it sends its own again"),
         QT_TR_NOOP("remove just that: {command}")},

        {"slurm", kGood, QT_TR_NOOP("Slurm"),
         QT_TR_NOOP("{version}, jobs go to partition {partition}")},
        {"slurm.closed", kBad, "", QT_TR_NOOP("{version}, jobs go to partition {partition}"),
         QT_TR_NOOP("That partition takes no jobs at the moment."),
         QT_TR_NOOP("Choose another one, or ask who runs the cluster.")},
        {"slurm.no-default", kBad, "", QT_TR_NOOP("{version}"),
         QT_TR_NOOP("It has no default partition."),
         QT_TR_NOOP("Name one of those below, with the option --partition=NAME for sbatch.")},
        {"slurm.no-partition", kBad, "", QT_TR_NOOP("{version}"),
         QT_TR_NOOP("It has no partition {partition}."),
         QT_TR_NOOP("Name one of those below, with the option --partition=NAME for sbatch.")},
        {"partition", kGood, QT_TR_NOOP("Partition {name}"),
         QT_TR_NOOP("{idle} of {nodes} idle, {processors} on each, time limit {limit}")},
        {"partition.gpus", kGood, "",
         QT_TR_NOOP("{idle} of {nodes} idle, {processors} and {gpus} on each, time limit {limit}")},

        {"changes", kGood, QT_TR_NOOP("Since the last check"), QT_TR_NOOP("{change}")},
        {"changes.less", kWarning, "", QT_TR_NOOP("{change}"),
         QT_TR_NOOP("something is gone or smaller, which may be a fault that nobody has seen"),
         QT_TR_NOOP("look at it on the machine; if it is meant so, nothing is to be done: the next "
                    "check compares with this one")},
    };
    static constexpr Phrase kPhrases[] = {
        {"node.needs-glibcxx", QT_TR_NOOP("; the trainer needs GLIBCXX {version}")},
        {"node.by-command", QT_TR_NOOP(": {command}")},
        {"node.gpus", QT_TR_NOOP("{count} x {name}, {memory}")},
        {"node.gpus-of", QT_TR_NOOP("{count} x {name}, {memory}, {architecture}")},
        {"node.set-up-runtime", QT_TR_NOOP("set that up on this computer: {command}")},
        {"node.install-driver", QT_TR_NOOP("install a driver of {version} or later there")},
        {"node.take-gpus", QT_TR_NOOP("take only the GPUs that a runtime serves, with Edit or "
                                      "{command}")},
        {"node.make-room",
         QT_TR_NOOP("make room on {node} (Clean up, or {command}, removes what no "
                    "run needs)")},
        {"node.room", QT_TR_NOOP("{free} free of {total} for {home}")},
        {"node.room-of", QT_TR_NOOP("{free} free of {total} for {home} ({file-system})")},
        {"node.no-run-starts",
         QT_TR_NOOP("no run can be started there: it writes its journal there")},
        {"node.nothing-is-sent", QT_TR_NOOP("nothing can be sent to it, and no run started there")},
        {"node.interface", QT_TR_NOOP("{name} {address}")},
        {"node.interface-of", QT_TR_NOOP("{name} {address}, {speed} Mbit/s")},
        {"node.unlimited", QT_TR_NOOP("unlimited")},
        {"node.unknown", QT_TR_NOOP("unknown")},
        {"node.run", QT_TR_NOOP("{run} ({facts})")},
        {"node.agent-alone", QT_TR_NOOP("its agent alone")},
        {"node.trains", QT_TR_NOOP("trains, at step {step}")},
        {"node.no-step", QT_TR_NOOP("does not train yet")},
        {"node.began", QT_TR_NOOP("began {age} ago")},
        {"node.started-by", QT_TR_NOOP("started by {who}")},
        {"node.days", QT_TR_NOOP("{days} days")},
        {"node.end-runs", QT_TR_NOOP("end just those")},
        {"node.ask-or-end-runs",
         QT_TR_NOOP("ask who started what is of another Ringmaster, or end just those")},
        {"node.agent-unneeded", QT_TR_NOOP("{release} ({size}), which no run needs")},
        {"node.agent-kept", QT_TR_NOOP("{release} ({size}), kept: {why}")},
        {"node.release", QT_TR_NOOP("release {release}")},
        {"node.same-release", QT_TR_NOOP("another build of release {release}")},
        {"node.unknown-release", QT_TR_NOOP("of an unknown release")},
        {"node.gpu-model", QT_TR_NOOP("{gpus} ({model})")},
        {"check.problem", QT_TR_NOOP("{title}: {evidence}")},

        // What is not as it was at the check before.
        {"change.became", QT_TR_NOOP("{before} became {now}")},
        {"change.gone", QT_TR_NOOP("{thing} is gone")},
        {"change.new", QT_TR_NOOP("new {thing}")},
        {"change.added", QT_TR_NOOP("new: {thing}")},
        {"change.driver", QT_TR_NOOP("driver {value}")},
        {"change.system", QT_TR_NOOP("system {value}")},
        {"change.kernel", QT_TR_NOOP("kernel {value}")},
        {"change.glibc", QT_TR_NOOP("glibc {value}")},
        {"change.processor", QT_TR_NOOP("processor {value}")},
        {"change.cores", QT_TR_NOOP("{count} cores")},
        {"change.memory", QT_TR_NOOP("memory {size}")},
        {"change.home", QT_TR_NOOP("folder of Ringmaster {value}")},
        {"change.gpu", QT_TR_NOOP("GPU {name} {id}")},
        {"change.gpu-number", QT_TR_NOOP("number {number}")},
        {"change.gpu-memory", QT_TR_NOOP("memory of {gpu} {size}")},
        {"change.disk", QT_TR_NOOP("disk {path}")},
        {"change.disk-size", QT_TR_NOOP("{disk} {size}")},
        {"change.interface", QT_TR_NOOP("interface {name} {address}")},
        {"change.interface-up", QT_TR_NOOP("{interface} is up again")},
        {"change.interface-down", QT_TR_NOOP("{interface} is down")},
        {"change.interface-speed", QT_TR_NOOP("{interface}: {before} became {now}")},
        {"change.speed", QT_TR_NOOP("{mbit} Mbit/s")},
        {"change.unknown-speed", QT_TR_NOOP("unknown speed")},
    };
};

} // namespace

TextTable nodeTexts() {
    return {NodeTexts::kFindings, NodeTexts::kPhrases};
}

} // namespace rm
