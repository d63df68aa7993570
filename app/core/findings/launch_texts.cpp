// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// What a launch would meet on its nodes, why one is refused, how one goes on, and what is measured
/// and forecast of links.
struct LaunchTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr FindingText kFindings[] = {
        {"launch-refused", kBad, QT_TR_NOOP("What the run needs there"),
         QT_TR_NOOP("{node}: {problem}"), QT_TR_NOOP("the launch is refused"), QT_TR_NOOP("{fix}")},
        {"launch-refused.missing", kBad, "", QT_TR_NOOP("{node}: {problem}"),
         QT_TR_NOOP("the launch is refused"),
         QT_TR_NOOP("put there what is missing, or change the setting that names it")},

        {"launch-runtime.refused", kBad, QT_TR_NOOP("Ranks"), QT_TR_NOOP("{error}"),
         QT_TR_NOOP("the launch is refused"),
         QT_TR_NOOP("change a setting that the message names, or the nodes or ranks")},
        {"launch-runtime", kGood, QT_TR_NOOP("What computes"),
         QT_TR_NOOP("all ranks train on GPUs, by the runtime {runtime}")},
        {"launch-runtime.missing", kBad, "",
         QT_TR_NOOP("all ranks train on GPUs, by the runtime {runtime}"),
         QT_TR_NOOP("this computer lacks it: the launch is refused"), QT_TR_NOOP("{fix}")},
        {"launch-runtime.cpus", kGood, "", QT_TR_NOOP("all ranks train on CPUs")},
        {"launch-runtime.cpus-as-set", kGood, "",
         QT_TR_NOOP("all ranks train on CPUs, as launch.device = \"cpu\" says")},
        {"launch-runtime.idle-gpus", kWarning, "",
         QT_TR_NOOP("all ranks train on CPUs, and GPUs stay idle ({gpus})"), QT_TR_NOOP("{why}"),
         QT_TR_NOOP("{fix}")},

        {"launch-room", kGood, QT_TR_NOOP("Room on the disks"), QT_TR_NOOP("{rooms}")},
        {"launch-room.too-little-to-send", kBad, "", QT_TR_NOOP("{room}"),
         QT_TR_NOOP("what is sent does not fit there"), QT_TR_NOOP("{make-room}")},
        {"launch-room.too-little", kWarning, "", QT_TR_NOOP("{room}"),
         QT_TR_NOOP("the disk may fill up while it trains, as journals, logs and prepared text "
                    "take some {bytes}; the run then waits for room with its next checkpoint"),
         QT_TR_NOOP("{make-room}, keep fewer (checkpoint.keep_last), or name another folder "
                    "(checkpoint.directory)")},
        {"launch-room.too-little-for-checkpoints", kWarning, "", QT_TR_NOOP("{room}"),
         QT_TR_NOOP("the disk may fill up while it trains; the run then waits for room with its "
                    "next checkpoint"),
         QT_TR_NOOP("{make-room}, keep fewer (checkpoint.keep_last), or name another folder "
                    "(checkpoint.directory)")},

        {"launch-checkpoints", kGood, QT_TR_NOOP("Checkpoints"), QT_TR_NOOP("in {folder}")},
        {"launch-checkpoints.unwritable", kBad, "", QT_TR_NOOP("{folder}: {problem}"),
         QT_TR_NOOP("rank 0 cannot write checkpoints there"),
         QT_TR_NOOP("let {user} write there (rights, a mount that is read-only, room), or name "
                    "another folder (checkpoint.directory)")},
        {"launch-checkpoints.shared", kGood, "",
         QT_TR_NOOP("in {folder}, which all nodes have in common: whichever goes on finds them")},
        {"launch-checkpoints.copied", kGood, "",
         QT_TR_NOOP("in {folder}, which the other nodes do not have; a copy of the newest two goes "
                    "to a second node")},
        {"launch-checkpoints.copied-here", kGood, "",
         QT_TR_NOOP("in {folder}, which the other nodes do not have; a copy of the newest two "
                    "comes to this computer while it follows the run")},
        {"launch-checkpoints.on-one-node", kWarning, "",
         QT_TR_NOOP("in {folder}, which the other nodes do not have"),
         QT_TR_NOOP("if {node} is lost, so is all that was trained"),
         QT_TR_NOOP("set checkpoint.copies = \"auto\", or name a folder that all nodes share")},

        {"launch-data", kGood, QT_TR_NOOP("Data"), QT_TR_NOOP("{data}")},
        {"launch-data.staged", kGood, "",
         QT_TR_NOOP("sent from this computer, so the same on all nodes")},
        {"launch-data.more", kGood, "", QT_TR_NOOP("{data}, and more")},
        {"launch-data.same", kGood, "",
         QT_TR_NOOP("{data}, the same on all nodes by names, sizes and samples of the contents")},
        {"launch-data.same-by-some", kGood, "",
         QT_TR_NOOP("{data}, the same on all nodes by names and sizes of so many and samples of "
                    "the contents")},
        {"launch-data.not-compared", kGood, "",
         QT_TR_NOOP("not compared: {node} did not say what it has: {why}")},
        {"launch-data.other-contents", kWarning, "", QT_TR_NOOP("{data}"),
         QT_TR_NOOP("their contents differ: all ranks must read the same samples, and refuse to "
                    "train where they notice that they do not"),
         QT_TR_NOOP("copy the same data to all of them (rsync -a --checksum), or set data.stage = "
                    "true")},
        {"launch-data.other-files", kWarning, "", QT_TR_NOOP("{data}"),
         QT_TR_NOOP("they differ: all ranks must read the same samples, and refuse to train where "
                    "they notice that they do not"),
         QT_TR_NOOP("copy the same data to all of them (rsync -a --checksum), or set data.stage = "
                    "true")},

        {"launch-others", kWarning, QT_TR_NOOP("Another run is there"),
         QT_TR_NOOP("{run} has ranks on {nodes}"),
         QT_TR_NOOP("both share its processors, memory and perhaps GPUs, and get slower"),
         QT_TR_NOOP("wait for the end of that run, pause it if it is yours, or choose other nodes "
                    "or GPUs")},

        {"launch-gpu-memory", kGood, QT_TR_NOOP("GPU memory in use"),
         QT_TR_NOOP("{node}: {evidence}")},
        {"launch-gpu-memory.in-the-way", kWarning, "", QT_TR_NOOP("{node}: {evidence}"),
         QT_TR_NOOP("{cause}"), QT_TR_NOOP("{fix}")},

        {"launch-machines", kWarning, QT_TR_NOOP("Machines"),
         QT_TR_NOOP("{nodes} are the same machine"),
         QT_TR_NOOP("ranks there share its processors, memory and GPUs"),
         QT_TR_NOOP("choose one of these nodes, with more ranks")},

        {"launch-address", kGood, QT_TR_NOOP("Where ranks meet"),
         QT_TR_NOOP("at a private address of {node}")},
        {"launch-address.public", kWarning, "",
         QT_TR_NOOP("perhaps at {addresses} of {node}, which is public"),
         QT_TR_NOOP("anybody who reaches it can connect: PyTorch's rendezvous, Gloo and NCCL know "
                    "no password"),
         QT_TR_NOOP("{fix}")},
        {"launch-address.nowhere", kBad, "", QT_TR_NOOP("{error}"),
         QT_TR_NOOP("no rank would reach the others: the launch is refused"),
         QT_TR_NOOP("correct or remove the variable or launch.interface that names it; if none "
                    "does, give that node a network by which the others reach it")},
    };
    static constexpr Phrase kPhrases[] = {
        {"check.sentence", QT_TR_NOOP("{evidence}: {cause}; {fix}")},
        {"launch.of-node", QT_TR_NOOP("{node}: {what}")},
        {"launch.room", QT_TR_NOOP("{node}: {free} free at {folder}")},
        {"launch.to-be-sent", QT_TR_NOOP("{sent} to be sent")},
        {"launch.checkpoints-at-most", QT_TR_NOOP("checkpoints at most {checkpoints}")},
        {"launch.checkpoints-and-more",
         QT_TR_NOOP("checkpoints at most {checkpoints}, and one more for every {every} steps")},
        {"launch.next-checkpoint", QT_TR_NOOP("the next checkpoint {checkpoints}")},
        {"launch.fix-install",
         QT_TR_NOOP("install there what the recipe reads: {command}; or name data of your own")},
        {"launch.fix-install-here",
         QT_TR_NOOP("install here what the recipe reads: {command}; or name data of your own")},
        {"launch.has-no-file", QT_TR_NOOP("has no file")},
        {"launch.has-no-file-of", QT_TR_NOOP("has no {endings} file")},
        {"launch.empty-class", QT_TR_NOOP("the class {folder} is empty")},
        {"launch.fix-empty-class", QT_TR_NOOP("remove that folder, or put pictures there")},
        {"launch.fix-name-another-folder",
         QT_TR_NOOP("name a folder that is one, or that can be made (checkpoint.directory)")},
        {"launch.nothing", QT_TR_NOOP("nothing")},
        {"launch.run-folder", QT_TR_NOOP("the run's folder on {node}")},
        {"launch.folder-on", QT_TR_NOOP("{folder} on {node}")},
        {"launch.data", QT_TR_NOOP("{files}, {bytes}")},
        {"launch.data-of-digest", QT_TR_NOOP("{data}, {digest}")},
        {"launch.staged-as", QT_TR_NOOP("sent by Ringmaster, {digest}")},

        // Where ranks are placed, and on what they compute.
        {"launch.refused", QT_TR_NOOP("launch: {why}")},
        {"launch.refused-on", QT_TR_NOOP("launch on {node}: {why}")},
        {"launch.beside-cluster",
         QT_TR_NOOP("launch on {node}: a run on a Slurm cluster has no other nodes; name the "
                    "cluster alone, with the number of ranks")},
        {"launch.no-partition-reported",
         QT_TR_NOOP("launch on {node}: Slurm has told of no partition for the job")},
        {"launch.no-rank", QT_TR_NOOP("place {ranks} on {node}: at least one rank is needed")},
        {"launch.more-ranks-than-gpus",
         QT_TR_NOOP("place {ranks} on {node}: it has {gpus}, and each rank needs its own")},
        {"launch.too-many-ranks-for-cores",
         QT_TR_NOOP("place {ranks} on {node}: it has {cores} cores; at most {most} CPU ranks make "
                    "sense there")},
        {"launch.partition-too-small",
         QT_TR_NOOP("place {ranks} ranks on {node}: with {each} on a node that is {nodes} nodes, "
                    "and its partition {partition} has {most}; launch.ranks says how many a node "
                    "has")},
        {"launch.no-partition",
         QT_TR_NOOP("its Slurm has no partition {partition}; there are: {partitions}")},
        {"launch.no-default-partition",
         QT_TR_NOOP("its Slurm has no default partition; name one by launch.sbatch = "
                    "[\"--partition=NAME\"]; there are: {partitions}")},
        {"launch.none", QT_TR_NOOP("none")},
        {"launch.runtime-does-not-run", QT_TR_NOOP("{runtime} does not run on {node}, as {why}")},
        {"launch.no-runtime",
         QT_TR_NOOP("find a runtime for the GPUs of all nodes: {why}; leave that node out, or set "
                    "launch.device to \"cpu\"")},
        {"launch.other-runtime",
         QT_TR_NOOP("find a runtime for the GPUs of all nodes: {why}; set launch.runtime to "
                    "{settings}, leave that node out, or set launch.device to \"cpu\"")},
        {"launch.no-gpu-for-cuda",
         QT_TR_NOOP("launch on {node}: launch.device is \"cuda\", but {why}; take \"auto\" or "
                    "\"cpu\"")},
        {"launch.no-gpu-that-trains", QT_TR_NOOP("{node} cannot train on GPUs, as {why}")},
        {"launch.leave-out", QT_TR_NOOP("leave {node} out")},
        {"launch.or-leave-out", QT_TR_NOOP("{fix}; or leave {node} out")},
        {"launch.too-few-gpus",
         QT_TR_NOOP("{node} has {gpus} for {ranks}, and each rank needs its own")},
        {"launch.fewer-ranks", QT_TR_NOOP("ask for fewer ranks there")},
        {"launch.lacks-runtime", QT_TR_NOOP("this computer lacks the runtime {runtime}")},
        {"launch.more-memory", QT_TR_NOOP("ask for more by launch.sbatch = [\"--mem=SIZE\"]")},
        {"launch.fewer-ranks-or-more-memory",
         QT_TR_NOOP("have fewer ranks on a node (launch.ranks), or ask for more by launch.sbatch = "
                    "[\"--mem=SIZE\"]")},

        // Where ranks meet.
        {"launch.find-meeting", QT_TR_NOOP("find an address where all ranks can meet")},
        {"launch.no-interface", QT_TR_NOOP("{node} has no network interface that is up and that "
                                           "other machines could reach{others}")},
        {"launch.no-interface-called",
         QT_TR_NOOP("{node} has no network interface of the name {name} that is up and that other "
                    "machines could reach{others}")},
        {"launch.no-interface-of-variables",
         QT_TR_NOOP("{node} has no network interface of its {variables} that is up and that other "
                    "machines could reach{others}")},
        {"launch.no-interface-up",
         QT_TR_NOOP("{node} has no network interface of its {variable} that is up{others}")},
        {"launch.it-has", QT_TR_NOOP("; it has {interfaces}")},
        {"launch.broken-listener",
         QT_TR_NOOP("its listener, which the others dialed, had ended or hung ({cause}), so that "
                    "nothing is known of the way there; measure again")},
        {"launch.most-dials", QT_TR_NOOP("a node dials {most} addresses and ports at most")},
        {"launch.measure-network", QT_TR_NOOP("measure the network")},
        {"launch.meeting", QT_TR_NOOP("ranks meet at {host}:{port}, by {interfaces}")},

        // Recipes and settings.
        {"launch.print-recipe",
         QT_TR_NOOP("to begin with, print one of ours: ringmaster recipes gpt > my-run.toml")},
        {"launch.no-recipe",
         QT_TR_NOOP("load recipe {name}: there is none of that name; recipes are {recipes}; a "
                    "file's name ends in .toml")},
        {"launch.odd-setting", QT_TR_NOOP("apply \"{setting}\": write section.key=value")},
        {"launch.unknown-key", QT_TR_NOOP("apply \"{setting}\": there is no key {key}")},

        // What was attempted: the part of an error's message before its ": ".
        {"launch.run", QT_TR_NOOP("launch {run}")},
        {"launch.look-at", QT_TR_NOOP("look at {node}")},
        {"launch.work-on", QT_TR_NOOP("work on {node}")},
        {"launch.closing", QT_TR_NOOP("work on {node}: Ringmaster is closing")},

        // How a launch or a measurement goes on.
        {"launch.check-nodes", QT_TR_NOOP("Check nodes")},
        {"launch.send-trainer", QT_TR_NOOP("Send trainer")},
        {"launch.send-data", QT_TR_NOOP("Send data")},
        {"launch.estimate-memory", QT_TR_NOOP("Estimate memory")},
        {"launch.find-where-ranks-meet", QT_TR_NOOP("Find where ranks meet")},
        {"launch.start-ranks", QT_TR_NOOP("Start ranks")},
        {"launch.hand-in-job", QT_TR_NOOP("Hand in the job")},
        {"launch.run-trial", QT_TR_NOOP("Run {trial} on {nodes}")},
        {"launch.log-in", QT_TR_NOOP("Log in to the nodes")},
        {"launch.log-in-waiting", QT_TR_NOOP("Log in to the nodes: waiting for {nodes}")},
        {"launch.open-ports", QT_TR_NOOP("Open ports on the nodes")},
        {"launch.dial", QT_TR_NOOP("Dial between the nodes, 8 s at most")},
        {"launch.stage-with", QT_TR_NOOP("{stage}: {what}")},
        {"launch.stage-paused", QT_TR_NOOP("{stage}: {why}; tried again for {seconds} s more")},
        {"launch.busy", QT_TR_NOOP("{node} is busy with {task}")},
        {"launch.the-launch", QT_TR_NOOP("the launch of {run}")},
        {"launch.the-trial", QT_TR_NOOP("the {trial}")},
        {"launch.sent-from", QT_TR_NOOP("{node} from {from}")},
        {"launch.own-torch-used", QT_TR_NOOP("{node} ({mb} MB of its own torch are used)")},
        {"launch.sent-again", QT_TR_NOOP("{node} (again: {what})")},
        {"launch.sent", QT_TR_NOOP("{bytes} sent")},
        {"launch.put-in-place", QT_TR_NOOP("the node puts it in place")},
        {"launch.a-second", QT_TR_NOOP("{bytes}/s")},
        {"launch.left", QT_TR_NOOP("{time} left")},

        // What trials tell of themselves and of the links.
        {"launch.trial-of-cluster",
         QT_TR_NOOP("{node} is a Slurm cluster, of which only the login node could be measured; "
                    "name nodes that are no cluster. Runs on its GPUs test each of them before "
                    "they train on it")},
        {"launch.trial-of-one-node", QT_TR_NOOP("it needs one node, and got {given}")},
        {"launch.trial-of-several-nodes",
         QT_TR_NOOP("it needs two nodes or more, and got {given}")},
        {"links.all", QT_TR_NOOP("all {nodes} nodes, {ranks} ranks")},
        {"links.rate", QT_TR_NOOP("{rate}{was}")},
        {"links.rate-of", QT_TR_NOOP("{rate} of {nominal}{was}")},
        {"links.rate-of-slower-link",
         QT_TR_NOOP("{rate} of {nominal}{was}, as a link of {usual}: a port, cable or switch on "
                    "the way may have negotiated that")},
        {"links.rate-far-below",
         QT_TR_NOOP("{rate} of {nominal}{was}: far below; something on the way is slower, other "
                    "traffic takes its share, or the processors cannot keep up")},
        {"links.no-rate",
         QT_TR_NOOP("no rate{was}: sums were so slow that the largest in the time was one of "
                    "{size}, in {time}")},
        {"links.was", QT_TR_NOOP(", was {rate}")},
        {"links.read", QT_TR_NOOP("read {source}")},
        {"links.no-nodes-or-report", QT_TR_NOOP("it has no nodes or no report")},
        {"links.odd-ranks", QT_TR_NOOP("a node of it has a number of ranks that makes no sense")},
        {"links.unknown-node", QT_TR_NOOP("it measures a node that it does not name")},

        {"forecast.none", QT_TR_NOOP("no forecast: {why}")},
        {"forecast.none-for-node", QT_TR_NOOP("no forecast for {nodes} node: {why}")},
        {"forecast.none-for-nodes", QT_TR_NOOP("no forecast for {nodes} nodes: {why}")},
        {"forecast.no-sums", QT_TR_NOOP("no sums between nodes were measured")},
        {"forecast.no-sums-as", QT_TR_NOOP("no sums between nodes were measured: {why}")},
        {"forecast.ranks-unknown",
         QT_TR_NOOP("the test of the links does not say how many ranks each node had")},
        {"forecast.no-rate", QT_TR_NOOP("between {nodes} there is {rate}")},
        {"forecast.second-node-helps",
         QT_TR_NOOP("with the second node training gets through {factor} times as many samples a "
                    "second as on one node; each step takes {step} instead of {before}, of which "
                    "it waits {waits} for what travels")},
        {"forecast.second-node-slows",
         QT_TR_NOOP("the second node makes training slower: {factor} times as many samples a "
                    "second as on one node; each step takes {step} instead of {before}, of which "
                    "it waits {waits} for what travels")},
        {"forecast.nodes-help",
         QT_TR_NOOP("with {nodes} nodes training gets through {factor} times as many samples a "
                    "second as on {first}; each step takes {step} instead of {before}, of which "
                    "it waits {waits} for what travels")},
        {"forecast.nodes-slow",
         QT_TR_NOOP("{nodes} nodes make training slower: {factor} times as many samples a second "
                    "as on {first}; each step takes {step} instead of {before}, of which it waits "
                    "{waits} for what travels")},
        {"forecast.one-node", QT_TR_NOOP("one node")},
        {"forecast.nodes", QT_TR_NOOP("{nodes} nodes")},
        {"forecast.with-compression",
         QT_TR_NOOP("with distribution.compression = \"bfloat16\" it would be {factor} times")},
        {"forecast.with-larger-steps",
         QT_TR_NOOP("with {key} = {size} it would be {factor} times, with an update after {more} "
                    "times as many samples")},
    };
};

} // namespace

TextTable launchTexts() {
    return {LaunchTexts::kFindings, LaunchTexts::kPhrases};
}

} // namespace rm
