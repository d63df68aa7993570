// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// What the check of a node says of its GPUs and self-tests, what the checks of several nodes say
/// together, and why the settings of a node, or a launch there, are refused.
struct GpuTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
    // Texts of several findings.
    static constexpr const char* kSharesGpu =
        QT_TR_NOOP("a run there has less memory and shares the GPU's time");
    static constexpr const char* kWrongOrFails =
        QT_TR_NOOP("what it computes may be wrong, or a run on it may fail");
    static constexpr const char* kFailsOrHangs = QT_TR_NOOP("a run on it may fail or hang");
    static constexpr const char* kReset =
        QT_TR_NOOP("end what runs on that GPU and reset it (sudo nvidia-smi --gpu-reset), or "
                   "restart the node");
    static constexpr const char* kReplace = QT_TR_NOOP("have the card replaced");
    static constexpr const char* kSlowSteps =
        QT_TR_NOOP("steps on it take longer, and all ranks wait for the slowest");
    static constexpr const char* kCool = QT_TR_NOOP(
        "look at fans, dust and the air around the machine, or lower the limit of power");

public:
    static constexpr FindingText kFindings[] = {
        {"chosen-gpus", kGood, QT_TR_NOOP("Chosen GPUs"),
         QT_TR_NOOP("{chosen} of {all} take part, the others are left alone")},
        {"chosen-gpus.missing", kBad, "", QT_TR_NOOP("{missing}"),
         QT_TR_NOOP("no rank can be started on a GPU that is not there"), QT_TR_NOOP("{fix}")},

        {"gpu-memory.none", kGood, QT_TR_NOOP("GPU memory in use"), QT_TR_NOOP("by no process")},
        {"gpu-memory", kGood, "", QT_TR_NOOP("GPU {index}: {used} of {total}")},
        {"gpu-memory.unlisted", kWarning, "",
         QT_TR_NOOP("by a process that the driver does not list"), kSharesGpu,
         QT_TR_NOOP("see on the machine itself what it is (sudo nvidia-smi), or {leave-out}")},
        {"gpu-memory.process", kGood, "", QT_TR_NOOP("GPU {index}: {process}")},
        {"gpu-memory.in-the-way", kWarning, "", QT_TR_NOOP("GPU {index}: {process}"), kSharesGpu,
         QT_TR_NOOP("ask {user} when it ends, or {leave-out}")},
        {"gpu-memory.in-another-container", kWarning, "", QT_TR_NOOP("GPU {index}: {process}"),
         kSharesGpu, QT_TR_NOOP("see on the machine itself what it is, or {leave-out}")},

        {"gpu-errors.none", kGood, QT_TR_NOOP("GPU errors"),
         QT_TR_NOOP("none by ECC and the driver's log")},
        {"gpu-errors.none-in-log", kGood, "", QT_TR_NOOP("none by the driver's log")},
        {"gpu-errors.none-by-ecc", kGood, "", QT_TR_NOOP("none by ECC")},
        {"gpu-errors.log-closed", kGood, "",
         QT_TR_NOOP("the driver's log is closed to this user: sudo dmesg | grep Xid there shows "
                    "what it has")},
        {"gpu-errors.uncorrected", kWarning, "",
         QT_TR_NOOP("GPU {index}: {errors} that ECC could not correct"), kWrongOrFails, kReset},
        {"gpu-errors.corrected", kGood, "", QT_TR_NOOP("GPU {index}: {errors} that ECC corrected")},
        {"gpu-errors.repair-failed", kWarning, "",
         QT_TR_NOOP("GPU {index}: faulty memory could not be taken out of use"), kWrongOrFails,
         kReplace},
        {"gpu-errors.repair-pending", kWarning, "",
         QT_TR_NOOP("GPU {index}: faulty memory is taken out of use at the next reset"),
         kWrongOrFails, kReset},
        {"gpu-errors.retired", kGood, "", QT_TR_NOOP("GPU {index}: {places} of memory out of use")},
        {"gpu-errors.xid", kWarning, "", QT_TR_NOOP("{gpu}: Xid {code}, {text}"), kFailsOrHangs,
         QT_TR_NOOP("look it up in NVIDIA's list of Xid errors; if it comes again after a restart, "
                    "have the card looked at")},
        // Those of a program itself are no fault of the GPU.
        {"gpu-errors.xid-13", kGood, "", QT_TR_NOOP("{gpu}: Xid 13, a program's kernel failed")},
        {"gpu-errors.xid-31", kGood, "",
         QT_TR_NOOP("{gpu}: Xid 31, a program used memory that was not its own")},
        {"gpu-errors.xid-43", kGood, "",
         QT_TR_NOOP("{gpu}: Xid 43, a program was stopped after a fault")},
        {"gpu-errors.xid-45", kGood, "", QT_TR_NOOP("{gpu}: Xid 45, a program was cut off")},
        {"gpu-errors.xid-48", kWarning, "", QT_TR_NOOP("{gpu}: Xid 48, a double-bit memory error"),
         kFailsOrHangs, kReset},
        {"gpu-errors.xid-63", kWarning, "",
         QT_TR_NOOP("{gpu}: Xid 63, faulty memory was taken out of use"), kFailsOrHangs, kReset},
        {"gpu-errors.xid-64", kWarning, "",
         QT_TR_NOOP("{gpu}: Xid 64, faulty memory could not be taken out of use"), kFailsOrHangs,
         kReplace},
        {"gpu-errors.xid-74", kWarning, "", QT_TR_NOOP("{gpu}: Xid 74, an NVLink failed"),
         kFailsOrHangs,
         QT_TR_NOOP("see nvidia-smi nvlink --errorcounters; have link or card looked at")},
        {"gpu-errors.xid-79", kWarning, "", QT_TR_NOOP("{gpu}: Xid 79, the GPU fell off the bus"),
         kFailsOrHangs,
         QT_TR_NOOP("switch the machine off and on; if it comes again, look at power, cooling and "
                    "seat of the card")},
        {"gpu-errors.xid-92", kWarning, "",
         QT_TR_NOOP("{gpu}: Xid 92, many single-bit memory errors"), kFailsOrHangs,
         QT_TR_NOOP("watch it; if it comes again, have the card replaced")},
        {"gpu-errors.xid-94", kWarning, "",
         QT_TR_NOOP("{gpu}: Xid 94, a memory error that was contained"), kFailsOrHangs, kReset},
        {"gpu-errors.xid-95", kWarning, "",
         QT_TR_NOOP("{gpu}: Xid 95, a memory error that was not contained"), kFailsOrHangs, kReset},
        {"gpu-errors.xid-119", kWarning, "",
         QT_TR_NOOP("{gpu}: Xid 119, the GPU's own processor did not answer"), kFailsOrHangs,
         kReset},
        {"gpu-errors.xid-120", kWarning, "",
         QT_TR_NOOP("{gpu}: Xid 120, the GPU's own processor failed"), kFailsOrHangs, kReset},

        {"gpu-clocks", kGood, QT_TR_NOOP("GPU clocks"), QT_TR_NOOP("not held down")},
        {"gpu-clocks.set", kGood, "", QT_TR_NOOP("GPU {index} is held down by set clocks")},
        {"gpu-clocks.power-limit", kGood, "",
         QT_TR_NOOP("GPU {index} is held down by its limit of power")},
        {"gpu-clocks.group", kGood, "",
         QT_TR_NOOP("GPU {index} is held down by its group of GPUs")},
        {"gpu-clocks.display", kGood, "", QT_TR_NOOP("GPU {index} is held down by its display")},
        {"gpu-clocks.other", kGood, "", QT_TR_NOOP("GPU {index} is held down by {reason}")},
        {"gpu-clocks.heat", kWarning, "", QT_TR_NOOP("GPU {index} is held down by its temperature"),
         kSlowSteps, kCool},
        {"gpu-clocks.heat-by-hardware", kWarning, "",
         QT_TR_NOOP("GPU {index} is held down by its temperature, by the hardware"), kSlowSteps,
         kCool},
        {"gpu-clocks.heat-or-power", kWarning, "",
         QT_TR_NOOP("GPU {index} is held down by the hardware: heat or power"), kSlowSteps, kCool},
        {"gpu-clocks.power-supply", kWarning, "",
         QT_TR_NOOP("GPU {index} is held down by the machine's power supply"), kSlowSteps,
         QT_TR_NOOP("look at the power supply: it asks the GPU to slow down")},

        {"gpu-link", kGood, QT_TR_NOOP("GPU links"), QT_TR_NOOP("GPU {index}: {link}")},
        {"gpu-link.narrow", kWarning, "", QT_TR_NOOP("GPU {index}: {link}"),
         QT_TR_NOOP("data and sums reach it more slowly than they could"),
         QT_TR_NOOP("push the card home, or move it to a slot with all lanes; some boards share "
                    "lanes between slots, which is no fault")},
        {"gpu-link.unknown", kGood, "", QT_TR_NOOP("not told by the driver")},

        {"gpu-self-test", kGood, QT_TR_NOOP("GPU self-test"), QT_TR_NOOP("{results}")},
        {"gpu-self-test.slower", kWarning, "", QT_TR_NOOP("{results}"),
         QT_TR_NOOP("steps there take longer by the plain way"),
         QT_TR_NOOP("update the driver, then let it be tested again: {command}")},
        {"gpu-self-test.wrong", kBad, "", QT_TR_NOOP("{results}"),
         QT_TR_NOOP("what such a GPU computes is wrong, and training on it would be"),
         QT_TR_NOOP("{leave-out}, or reset it and let it be tested again: {command}")},

        {"cpu-self-test", kGood, QT_TR_NOOP("CPU self-test"),
         QT_TR_NOOP("{device}: all proofs held ({count}), with {runtime}")},
        {"cpu-self-test.wrong", kBad, "", QT_TR_NOOP("{device} failed in {proofs}"),
         QT_TR_NOOP("what such a processor or its memory computes is wrong"),
         QT_TR_NOOP("test its memory, and train elsewhere until this holds")},

        {"key-files", kWarning, QT_TR_NOOP("Key files"), QT_TR_NOOP("{problems}"),
         QT_TR_NOOP("another key or the password opened the login, which fails once that one does "
                    "not"),
         QT_TR_NOOP("mend the file, or take its name out of ssh_config or of the node's settings, "
                    "with Edit or with {command}")},

        {"agent.runs", kGood, QT_TR_NOOP("Agent"), QT_TR_NOOP("release {release}, runs as {path}")},

        {"slurm.unanswered", kBad, QT_TR_NOOP("Slurm"), QT_TR_NOOP("{error}"),
         QT_TR_NOOP("no job can be sent to the cluster from there"),
         QT_TR_NOOP("log in there and run sinfo: once that lists the partitions, check again; if "
                    "it is no login node of a cluster, it is a node without Slurm")},
    };
    static constexpr Phrase kPhrases[] = {
        {"gpu.by-index", QT_TR_NOOP("GPU {index}")},
        {"gpu.unlisted", QT_TR_NOOP("a GPU at {address} that the driver does not list")},
        {"gpu.leave-out", QT_TR_NOOP("leave that GPU out with Edit, or with {command} with the "
                                     "numbers of the others")},
        {"gpu.process", QT_TR_NOOP("{memory} by {name} of {user} (pid {pid})")},
        {"gpu.process-in-container",
         QT_TR_NOOP("{memory} by {name} of another container (pid {pid})")},
        {"gpu.some-memory", QT_TR_NOOP("some")},
        {"gpu.a-process", QT_TR_NOOP("a process")},
        {"gpu.link", QT_TR_NOOP("PCIe x{width} of x{most-width}, generation {generation} of "
                                "{most-generation}")},
        {"gpu.links-alike", QT_TR_NOOP("all: {link}")},
        {"gpu.self-test-wrong",
         QT_TR_NOOP("GPU {index} failed in {proofs} (nothing is trained on it)")},
        {"gpu.self-test-slower", QT_TR_NOOP("GPU {index} failed in {proofs} (training does without "
                                            "that, by the plain way)")},
        {"gpu.self-tests-held",
         QT_TR_NOOP("{held} of {all} hold all proofs with driver {driver} and {runtime}")},
        {"gpu.self-tests-due",
         QT_TR_NOOP("{count} not tested with both yet: the first training does it, in about 10 s, "
                    "or {command}")},
        {"gpu.chosen-of-none",
         QT_TR_NOOP("GPU {gpu} was chosen to train on, and the node has none")},
        {"gpu.chosen-of-others",
         QT_TR_NOOP("GPU {gpu} was chosen to train on, and the node has only {gpus}")},
        {"gpu.fix-choice", QT_TR_NOOP("correct the choice with Edit, or with {command}")},

        // What differs between nodes.
        {"compare.system", QT_TR_NOOP("Operating system")},
        {"compare.kernel", QT_TR_NOOP("Kernel")},
        {"compare.glibc", QT_TR_NOOP("glibc")},
        {"compare.libstdcxx", QT_TR_NOOP("libstdc++")},
        {"compare.driver", QT_TR_NOOP("Driver")},
        {"compare.gpus", QT_TR_NOOP("GPUs")},
        {"compare.runtime", QT_TR_NOOP("Newest runtime")},
        {"compare.cpu", QT_TR_NOOP("CPU")},
        {"compare.cores", QT_TR_NOOP("Cores")},
        {"compare.memory", QT_TR_NOOP("Memory")},
        {"compare.locked-memory", QT_TR_NOOP("Locked memory")},
        {"compare.open-files", QT_TR_NOOP("Open files")},
        {"compare.agent", QT_TR_NOOP("Agent")},
        {"compare.none", QT_TR_NOOP("none")},
        {"compare.unknown", QT_TR_NOOP("not told")},
        {"compare.gpus-of-model", QT_TR_NOOP("{count} x {name}")},
        {"compare.same-machine",
         QT_TR_NOOP("{nodes} are the same machine: a run on several of these nodes shares its "
                    "processors, memory and GPUs; keep one and remove the others from the list")},
        {"compare.same-home",
         QT_TR_NOOP("{nodes} share the folder of trainers and data, which is sent once")},
        {"compare.same-state",
         QT_TR_NOOP("{nodes} share the folder of runs, in which each has a part of its own")},
        {"compare.other-run", QT_TR_NOOP("of another Ringmaster")},
        {"compare.other-run-of", QT_TR_NOOP("of another Ringmaster, started by {who}")},
        {"compare.run-of", QT_TR_NOOP("{run}, started by {who}")},

        // What was attempted with a node of the list: the part of an error's message before its
        // ": ".
        {"gpu.node-make-folder", QT_TR_NOOP("make {folder}")},
        {"gpu.node-save-file", QT_TR_NOOP("save {file}")},
        {"gpu.node-file-empty",
         QT_TR_NOOP(
             "read {file}: the file is empty, as after a crash or on a full disk, so that the "
             "nodes in it are lost; bring back a copy of it, or remove it: then the list "
             "begins anew")},
        {"gpu.node-save-all", QT_TR_NOOP("save the nodes")},
        {"gpu.node-add", QT_TR_NOOP("add node {node}")},
        {"gpu.node-edit", QT_TR_NOOP("edit node {node}")},
        {"gpu.node-remove", QT_TR_NOOP("remove node {node}")},
        {"gpu.node-check", QT_TR_NOOP("check node {node}")},
        {"gpu.node-set-up", QT_TR_NOOP("set up node {node}")},
        {"gpu.node-set-up-jump-host", QT_TR_NOOP("set up node {node}: jump host")},
        {"gpu.node-set-up-environment", QT_TR_NOOP("set up node {node}: its environment")},

        // Why that failed.
        {"gpu.node-not-allowed", QT_TR_NOOP("not allowed")},
        {"gpu.node-written-by-other", QT_TR_NOOP("another Ringmaster is writing it")},
        {"gpu.node-always-there", QT_TR_NOOP("this computer always is one")},
        {"gpu.node-never-removed",
         QT_TR_NOOP("this computer always is one; launch on others to leave it out")},
        {"gpu.node-name-taken", QT_TR_NOOP("there is already one of that name")},
        {"gpu.node-name-taken-by-other", QT_TR_NOOP("there is another node of that name")},
        {"gpu.node-none-to-edit", QT_TR_NOOP("there is none of that name to edit")},
        {"gpu.node-none", QT_TR_NOOP("there is none of that name")},
        {"gpu.node-odd-name",
         QT_TR_NOOP("a name is 1 to 64 letters, digits, '.', '_' or '-', starts with no '-' and is "
                    "not '.' or '..'")},
        {"gpu.node-no-host", QT_TR_NOOP("it has no host")},
        {"gpu.node-odd-host",
         QT_TR_NOOP("host '{host}' may hold letters, digits and ._:%- only, and starts with no "
                    "'-'")},
        {"gpu.node-odd-user",
         QT_TR_NOOP("user '{user}' may hold letters, digits and ._:%- only, and starts with no "
                    "'-'")},
        {"gpu.node-odd-port", QT_TR_NOOP("port '{port}' is not between 1 and 65535")},
        {"gpu.node-no-port", QT_TR_NOOP("\"{port}\" is no port")},
        {"gpu.node-odd-key-file",
         QT_TR_NOOP("key file '{file}' must not hold '%' or a line break")},
        {"gpu.node-odd-jump-host",
         QT_TR_NOOP("jump host '{hosts}' must read [USER@]HOST[:PORT] with letters, digits and "
                    "._:- only, and no part starts with '-'; several are separated by commas, the "
                    "one that is passed first before the others")},
        {"gpu.node-odd-gpu",
         QT_TR_NOOP("GPU '{gpu}' is neither a number such as 0 nor a UUID such as "
                    "GPU-1b2c3d4e-..., as nvidia-smi -L lists them")},
        {"gpu.node-gpu-twice", QT_TR_NOOP("a GPU is chosen twice")},
        {"gpu.node-gpus-by-environment",
         QT_TR_NOOP("its environment must not set CUDA_VISIBLE_DEVICES, which the GPUs chosen for "
                    "the node become (gpus): choose them there")},
        {"gpu.node-odd-group",
         QT_TR_NOOP("group '{group}' must be 1 to 64 letters, digits, '.', '_' or '-', without "
                    "spaces and with no '-' at its start, such as test-group")},
        {"gpu.node-group-twice", QT_TR_NOOP("a group is named twice")},
        {"gpu.node-odd-notes", QT_TR_NOOP("its notes must be plain text of at most 4096 bytes")},
        {"gpu.node-odd-price",
         QT_TR_NOOP("its price must be a number from 0 to a million, such as 2.49")},
        {"gpu.node-odd-sbatch", QT_TR_NOOP("option for sbatch '{option}' {mistake}")},
        {"gpu.node-sbatch-without-slurm", QT_TR_NOOP("options for sbatch are for a Slurm cluster")},
        {"gpu.node-reserved-name", QT_TR_NOOP("{name} is the name of this computer")},
        {"gpu.node-reached-without-ssh",
         QT_TR_NOOP("this computer is reached without SSH: it has no host, user, port, key file or "
                    "jump host")},
        {"gpu.node-connects", QT_TR_NOOP("connects")},
        {"gpu.node-sends-agent", QT_TR_NOOP("sends the agent")},
        {"gpu.node-looks", QT_TR_NOOP("looks")},

        // Why a launch there is refused.
        {"gpu.launch-unreadable", QT_TR_NOOP("{key} names {path}, which {why}")},
        {"gpu.launch-run", QT_TR_NOOP("\"{name}\"")},
        {"gpu.launch-run-of-id", QT_TR_NOOP("\"{name}\" ({id})")},
        {"gpu.launch-folder-taken",
         QT_TR_NOOP("checkpoint.directory names {folder}, which has checkpoints of the run {owner} "
                    "up to step {step}")},
        {"gpu.launch-folder-without-run",
         QT_TR_NOOP("checkpoint.directory names {folder}, which has checkpoints of the run {owner} "
                    "up to step {step} and none of a run called \"{run}\"")},
        {"gpu.launch-fix-folder",
         QT_TR_NOOP("choose another folder, or set checkpoint.on_existing to \"resume\", to go on "
                    "from there, or \"separate\", to save beside them")},
        {"gpu.launch-fix-folder-or-resume",
         QT_TR_NOOP("choose another folder, resume that run, or set checkpoint.on_existing to "
                    "\"resume\", to go on from there, or \"separate\", to save beside them")},
        {"gpu.launch-fix-other-folder",
         QT_TR_NOOP("choose another folder, or set checkpoint.on_existing to \"separate\", to save "
                    "beside them")},
        {"gpu.launch-fix-other-folder-or-resume",
         QT_TR_NOOP("choose another folder, resume that run, or set checkpoint.on_existing to "
                    "\"separate\", to save beside them")},
        {"gpu.launch-slurm-unanswered",
         QT_TR_NOOP("ask Slurm on {cluster}: {error}; log in there and run sinfo: once that lists "
                    "the partitions, try again")},
        {"gpu.launch-estimate", QT_TR_NOOP("the estimate of memory")},
        {"gpu.launch-make-estimate", QT_TR_NOOP("estimate memory")},
        {"gpu.launch-about", QT_TR_NOOP("about {memory}")},
        {"gpu.launch-more-than", QT_TR_NOOP("more than {memory}")},
        {"gpu.launch-lacks-memory",
         QT_TR_NOOP("{node} has too little memory for {run}: it needs {needed}, and {free} are "
                    "free")},
        {"gpu.launch-lacks-gpu-memory",
         QT_TR_NOOP("{node} has too little memory for {run}: it needs {needed} of its GPU's "
                    "memory, and {free} are free")},
        {"gpu.launch-ranks-lack-memory",
         QT_TR_NOOP("{node} has too little memory for {run}: each of its {ranks} ranks there needs "
                    "{needed}, and {free} are free for each")},
        {"gpu.launch-ranks-lack-gpu-memory",
         QT_TR_NOOP("{node} has too little memory for {run}: each of its {ranks} ranks there needs "
                    "{needed} of its GPU's memory, and {free} are free")},
    };
};

} // namespace

TextTable gpuTexts() {
    return {GpuTexts::kFindings, GpuTexts::kPhrases};
}

} // namespace rm
