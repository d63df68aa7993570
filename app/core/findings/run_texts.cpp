// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// What a run waits for and what was asked of it, and what becomes of its checkpoints.
struct RunTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr Phrase kPhrases[] = {
        // What was attempted: the part of an error's message before its ": ".
        {"run.find-node", QT_TR_NOOP("find node {node}")},
        {"run.command", QT_TR_NOOP("{command} {run}")},
        {"run.resume", QT_TR_NOOP("resume {run}")},
        {"run.restore", QT_TR_NOOP("restore {run}")},
        {"run.read-from-agent", QT_TR_NOOP("read from the agent")},
        {"run.attach-to", QT_TR_NOOP("attach to {run}")},
        {"run.attach-on", QT_TR_NOOP("attach on {node}")},
        {"run.read-rest", QT_TR_NOOP("read what {node} has of {run}")},
        {"run.receive", QT_TR_NOOP("receive {file}")},
        {"run.receive-file-of", QT_TR_NOOP("receive a file of run {run}")},

        {"run.log-ranks", QT_TR_NOOP("[ranks {ranks}]")},
        {"run.no-such-step", QT_TR_NOOP("it has no sample of step {step} or of a later one")},
        {"run.no-such-steps", QT_TR_NOOP("it has no samples of these steps")},
        {"run.no-such-time",
         QT_TR_NOOP("\"{text}\" is no step and no time; give a step (1200), how long ago (15m), a "
                    "time of this day (14:30), or a day and time (2026-11-21 14:30)")},

        {"run.node-not-listed", QT_TR_NOOP("it is not in the list; add it first")},
        {"run.reported-at", QT_TR_NOOP("{place}: {what}")},

        // Of traces.
        {"trace.waited-for",
         QT_TR_NOOP(
             "rank {rank} was the last in {steps} of {all} steps, by {mean} on average; the "
             "longest wait was that of rank {who} for rank {whom} in step {step}, {longest}")},
        {"trace.one-clock", QT_TR_NOOP("there is one rank, so one clock")},
        {"trace.wall-clocks",
         QT_TR_NOOP(
             "the ranks are beside each other by the clocks of their machines, as no "
             "collective was recorded on both: how far these clocks are apart is not known")},
        {"trace.aligned",
         QT_TR_NOOP("the clocks of the ranks are aligned by the ends of {collectives} collectives, "
                    "to about {error}")},

        // Which rank or node the run waits for.
        {"run.node-unreachable", QT_TR_NOOP("{node} cannot be reached")},
        {"run.node-without-it", QT_TR_NOOP("{node} has nothing of the run at the moment")},
        {"run.node-has-nothing",
         QT_TR_NOOP("{node} has nothing of the run at the moment: {why}; it is looked for again")},
        {"run.node-unreachable-as", QT_TR_NOOP("{node} cannot be reached: {why}")},
        {"run.node-refuses-login", QT_TR_NOOP("{node} refuses the login: {why}")},
        {"run.node-has-other-key",
         QT_TR_NOOP(
             "{node} has a host key that is not accepted, so nobody logs in there; it is tried "
             "again by itself: {why}")},
        {"run.node-reachable-again", QT_TR_NOOP("{node} can be reached again")},
        {"run.node-being-connected", QT_TR_NOOP("{node} is being connected to")},
        {"run.node-silent", QT_TR_NOOP("{node} has not been heard of for {seconds} s; its ranks "
                                       "are shown as they were")},
        {"run.in-phase", QT_TR_NOOP("in {phase} for {seconds} s")},
        {"run.in-phase-after", QT_TR_NOOP("in {phase} after step {step} for {seconds} s")},
        {"run.rank-stopped",
         QT_TR_NOOP("rank {rank} on {node} is stopped, as by SIGSTOP or a debugger: {where}")},
        {"run.rank-behind", QT_TR_NOOP("rank {rank} on {node} is behind: {where}")},
        {"run.ranks-behind",
         QT_TR_NOOP("rank {rank} on {node} and {more} more are behind: {where}")},
        // Several: of a single rank it is said that it is behind.
        {"run.all-ranks-at", QT_TR_NOOP("all {ranks} ranks that run are {where}")},
        {"run.network-cut",
         QT_TR_NOOP("all {ranks} ranks wait for each other's sums, while all their nodes answer "
                    "here: the network between the nodes does not carry them; {where}")},
        {"run.network-cut-between",
         QT_TR_NOOP(
             "all {ranks} ranks wait for each other's sums, while all their nodes answer here: "
             "the network between {one} and {other} does not carry them; {where}")},

        // Full disks.
        {"run.disk-full", QT_TR_NOOP("the disk of the run's folder on {node} is full")},
        {"run.disk-full-as", QT_TR_NOOP("the disk of the run's folder on {node} is full ({why})")},
        {"run.disk-read-only",
         QT_TR_NOOP("the disk of the run's folder on {node} takes nothing ({why})")},
        {"run.no-checkpoint-there",
         QT_TR_NOOP("{disk-full}, so neither a checkpoint nor what the ranks have measured since "
                    "could be kept there: {mend} and ask again; the run goes on as before")},
        {"run.mend-full-disk", QT_TR_NOOP("make room on it")},
        {"run.mend-disk", QT_TR_NOOP("mend that disk")},
        {"run.no-attempt-there", QT_TR_NOOP("{disk-full}: no attempt begins there, and no end is "
                                            "written, until that is mended")},
        {"run.journal-disk-full",
         QT_TR_NOOP("rank {rank} on {node} cannot write its journal: its disk is full (kept in "
                    "memory, written when that is mended)")},
        {"run.journal-disk-fails",
         QT_TR_NOOP("rank {rank} on {node} cannot write its journal: its disk fails (kept in "
                    "memory, written when that is mended)")},
        {"run.not-while-unwritten",
         QT_TR_NOOP("rank {rank} on {node} cannot write its journal, as its disk fails, and would "
                    "lose what it keeps in memory; mend that disk, or kill the run")},
        {"run.rank-dropped", QT_TR_NOOP("rank {rank} on {node}: {dropped}")},
        {"run.record-dropped", QT_TR_NOOP("1 record was dropped")},
        {"run.records-dropped", QT_TR_NOOP("{records} records were dropped")},

        // Why a command has no effect yet, and what a person may do.
        {"run.under-way", QT_TR_NOOP("{command} under way for {seconds} s")},
        {"run.under-way-as", QT_TR_NOOP("{command} under way for {seconds} s: {why}")},
        {"run.agent-has-not-confirmed", QT_TR_NOOP("the ranks get on, but the agent on {node} has "
                                                   "not confirmed it")},
        {"run.advice-unstored", QT_TR_NOOP("The nodes answer, and keep what they say until it can "
                                           "be stored on this computer.")},
        {"run.once-checked", QT_TR_NOOP("once a check of {node} succeeds")},
        {"run.once-heard", QT_TR_NOOP("once {node} is heard of again")},
        {"run.advice-kill", QT_TR_NOOP("Each node ends its own ranks; those of that one {once}.")},
        {"run.advice-kept", QT_TR_NOOP("The command is kept and takes effect {once}.")},
        {"run.advice-others",
         QT_TR_NOOP("Rank 0 has the command, and the ranks act on it if they get on; those of "
                    "that node are seen again {once}.")},
        {"run.advice-disk-full", QT_TR_NOOP("The answer comes once it can be written down there: "
                                            "free some room on that disk.")},
        {"run.advice-agent", QT_TR_NOOP("An agent that does not answer is replaced by itself; the "
                                        "ranks go on meanwhile.")},
        {"run.advice-between-steps", QT_TR_NOOP("The ranks come to it when that is done.")},
        {"run.advice-late", QT_TR_NOOP("Ranks act together, and one is late. Kill ends them all "
                                       "at once, without a checkpoint.")},

        // What was asked of a run, by whom, and what became of that.
        {"run.somebody", QT_TR_NOOP("somebody")},
        {"run.by-window", QT_TR_NOOP("{who} in the window")},
        {"run.by-terminal", QT_TR_NOOP("{who} in a terminal")},
        {"run.by-rule", QT_TR_NOOP("a rule of the run")},
        {"run.by-itself", QT_TR_NOOP("the run, after a restart")},
        {"run.by-other", QT_TR_NOOP("{who} elsewhere")},
        {"run.waits-for-node", QT_TR_NOOP("waits for a node to accept it")},
        {"run.waits-for-ranks", QT_TR_NOOP("accepted, waits for the ranks")},
        {"run.done-in-part", QT_TR_NOOP("done on a part of its nodes")},
        {"run.done", QT_TR_NOOP("done")},
        {"run.took-effect", QT_TR_NOOP("took effect after step {step}")},
        {"run.changed-after", QT_TR_NOOP("{change} after step {step}")},
        {"run.refused", QT_TR_NOOP("refused")},
        {"run.withdrawn", QT_TR_NOOP("withdrawn")},
        {"run.no-effect", QT_TR_NOOP("no effect")},
        {"run.fate-as", QT_TR_NOOP("{fate}: {answer}")},

        // The answers to commands.
        {"run.not-followed", QT_TR_NOOP("Ringmaster stopped following the run")},
        {"run.effect-unknown", QT_TR_NOOP("Ringmaster stopped following the run before it was "
                                          "known whether it took effect")},
        {"run.lead-has-ended",
         QT_TR_NOOP("{node}, the node of rank 0, has ended its ranks; kill the run")},
        {"run.lead-unreachable", QT_TR_NOOP("{node}, the node of rank 0 cannot be reached: {why}")},
        {"run.waited-too-long",
         QT_TR_NOOP("it waited for a node for more than 1 h, so it is not sent any more; ask "
                    "again if it is still wanted")},
        {"run.answered-already", QT_TR_NOOP("it has its answer already")},
        {"run.done-on-a-node", QT_TR_NOOP("it was done on a node already")},
        {"run.accepted-already", QT_TR_NOOP("{node} has accepted it: the ranks act on it at their "
                                            "next step")},
        {"run.sent-already", QT_TR_NOOP("{node} has got it already")},
        {"run.withdrawn-in-time", QT_TR_NOOP("withdrawn before a node accepted it")},
        {"run.perhaps-sent", QT_TR_NOOP("{nodes} may have got it before its link broke: then it "
                                        "takes effect")},
        {"run.killed", QT_TR_NOOP("killed")},
        {"run.killed-but-on",
         QT_TR_NOOP("killed, but not on {nodes}, which cannot be reached: killed there once it "
                    "can be; or declare it lost")},
        {"run.not-killed", QT_TR_NOOP("{why}; its ranks are killed where that changes within 1 h, "
                                      "or declare it lost")},
        {"run.ranks-ended-before", QT_TR_NOOP("the ranks ended before it")},
        {"run.ended-before", QT_TR_NOOP("the run ended before it took effect")},
        {"run.no-such-node", QT_TR_NOOP("the run has no such node")},
        {"run.ranks-have-ended", QT_TR_NOOP("its ranks have ended")},
        {"run.node-not-lost",
         QT_TR_NOOP("it can be reached, as it was heard of {seconds} s ago (a node is lost after "
                    "10 s); pause, stop or kill the run")},
        {"run.declared-lost", QT_TR_NOOP("declared lost: {why}")},
        {"run.node-declared-lost", QT_TR_NOOP("{node} was declared lost: {why}")},
        {"run.lost-node-ended",
         QT_TR_NOOP("{node}, which was declared lost, can be reached again: what lived there of "
                    "the run was ended")},

        // Why a run cannot be followed, and what of its files is lost.
        {"run.other-protocol",
         QT_TR_NOOP("its agent is of release {release} and speaks protocol {protocol}, this is "
                    "{our-release} with protocol {our-protocol}; install that release")},
        {"run.agent-silent", QT_TR_NOOP("nothing heard for {seconds} s")},
        {"run.stream-ended", QT_TR_NOOP("the agent's stream ended")},
        {"run.ranks-gone",
         QT_TR_NOOP(
             "the ranks on {node} and the agent that supervised them are gone without a report "
             "(machine restarted, or killed from outside?)")},
        {"run.end-presumed",
         QT_TR_NOOP("not all its nodes tell how it ended ({why}), so that was concluded; "
                    "`ringmaster attach` looks again")},
        {"run.login-refused", QT_TR_NOOP("the login was refused")},
        {"run.no-end-in-time", QT_TR_NOOP("it did not come to an end in time")},
        {"run.foreign-file",
         QT_TR_NOOP("its name is \"{file}\", which the run does not have there")},
        {"run.bytes-missing", QT_TR_NOOP("bytes from {came} came, from {due} were due")},
        {"run.attempt-left-out",
         QT_TR_NOOP("{node} has records of an attempt {attempt} of its own: it had been declared "
                    "lost, and went on by itself while the run went on elsewhere; they stay in "
                    "its folder")},
        {"run.end-by-agent", QT_TR_NOOP("as its agent says; its journal has no end of it")},
        {"run.file-damaged", QT_TR_NOOP("{file} on its node: {what}")},
        {"run.journal-shorter",
         QT_TR_NOOP("it ends at byte {end}, although its first {stored} bytes are stored here; "
                    "what followed them is lost")},
        {"run.damaged-to-end", QT_TR_NOOP("{what}, up to its end")},
        {"run.log-left-out",
         QT_TR_NOOP("--- {bytes} before this line were left out here, as more was printed than is "
                    "read of a log; {node} still has them in {file} ---")},
        {"run.log-cut-off", QT_TR_NOOP("it was cut off at byte {byte}")},
        {"run.bytes-lost", QT_TR_NOOP("{bytes} bytes from byte {from} on are lost: {why}")},

        // What it has in a folder that its spec names.
        {"run.folder-part", QT_TR_NOOP("{size} of that in {path}")},
        {"run.folder-stays", QT_TR_NOOP("{size} stays in {path}, as {why}")},
        {"run.folder-stays-on", QT_TR_NOOP("{node}: {stays}")},

        // Before a run is launched, branched or resumed.
        {"run.name-taken", QT_TR_NOOP("a run is called {name} already, {newest}: choose another "
                                      "name, or tell them apart by their ids")},
        {"run.name-taken-by",
         QT_TR_NOOP("{runs} runs are called {name} already, the newest is {newest}: choose "
                    "another name, or tell them apart by their ids")},
        {"run.branch-from", QT_TR_NOOP("{parent}, from {step}")},
        {"run.branch-with-changes", QT_TR_NOOP("{parent}, {changes} changes")},
        {"run.values", QT_TR_NOOP("{count} values")},
        // Runs beside each other.
        {"run.compare-not-stored", QT_TR_NOOP("compare runs: {run} is not stored here")},
        {"run.work-unknown", QT_TR_NOOP("{run}: how much its steps take is not known before the "
                                        "first one")},
        {"run.counts-no-epochs",
         QT_TR_NOOP("{run} has no epochs: its spec counts steps (train.epochs is 0)")},
        {"run.epochs-unknown", QT_TR_NOOP("{run}: how many steps an epoch has is known once its "
                                          "ranks have read the data")},
        {"run.no-branch", QT_TR_NOOP("{run} is no branch, and none of the others is one of it")},
        {"run.never-passes", QT_TR_NOOP("{run} never has {metric} {sign} {value}")},
        {"run.no-alignment",
         QT_TR_NOOP("align at {text}: that is no condition on a metric; write it as loss < 3 or "
                    "validation/bleu >= 20")},
        {"run.filter-no-text",
         QT_TR_NOOP("filter runs: that is no text; type words and conditions")},
        {"run.filter-open-quote", QT_TR_NOOP("filter runs: a quote has no end; add one more \"")},
        {"run.filter-no-value", QT_TR_NOOP("filter runs: {key} lacks what to compare it with; "
                                           "write it as loss < 3, lr >= 1e-3 or tag:baseline")},
        {"run.filter-no-number", QT_TR_NOOP("filter runs: {key} is compared with {value}, which "
                                            "is no number; = and != compare texts")},
        {"run.filter-yes-or-no",
         QT_TR_NOOP("filter runs: {key} is yes or no, not {value}; write {key}:yes")},
        {"run.no-such-key",
         QT_TR_NOOP("no setting or metric is called {key}; settings are as in a spec "
                    "(optimizer.lr, or lr), metrics as in the charts (validation/loss)")},
        {"run.key-of-several",
         QT_TR_NOOP("several settings end in {key}; write one in full, such as {one}")},
        {"run.parent-at-step", QT_TR_NOOP("{parent} at {step}")},
        {"run.fact-state", QT_TR_NOOP("State")},
        {"run.fact-steps", QT_TR_NOOP("Steps")},
        {"run.fact-attempts", QT_TR_NOOP("Attempts")},
        {"run.fact-ranks", QT_TR_NOOP("Ranks")},
        {"run.fact-nodes", QT_TR_NOOP("Nodes")},
        {"run.fact-runtime", QT_TR_NOOP("Runtime")},
        {"run.fact-trainer", QT_TR_NOOP("Trainer")},
        {"run.fact-data", QT_TR_NOOP("Data")},
        {"run.fact-changed", QT_TR_NOOP("Set while it trained")},
        {"run.fact-parent", QT_TR_NOOP("Branch of")},
        {"run.fact-hours", QT_TR_NOOP("Hours")},
        {"run.fact-rank-hours", QT_TR_NOOP("Rank-hours")},
        {"run.fact-energy", QT_TR_NOOP("kWh of GPUs")},
        {"run.fact-price", QT_TR_NOOP("Price")},

        {"run.cost-gpus", QT_TR_NOOP("{hours} h, {ranks} GPU-hours")},
        {"run.cost-ranks", QT_TR_NOOP("{hours} h, {ranks} rank-hours")},
        {"run.cost-energy", QT_TR_NOOP("{kwh} kWh of its GPUs")},
        {"run.cost-price", QT_TR_NOOP("{price} at the prices of its nodes")},
        {"run.cost-without", QT_TR_NOOP("(nodes without a price: {count}, such as {node})")},

        {"run.on", QT_TR_NOOP("on")},
        {"run.off", QT_TR_NOOP("off")},
        {"run.none", QT_TR_NOOP("none")},
        {"run.no-steps-left",
         QT_TR_NOOP("nothing is left to train from step {step}: train.steps is {last}; branch "
                    "from there with more")},
        {"run.no-epochs-left",
         QT_TR_NOOP("nothing is left to train from step {step}: train.epochs is {epochs}, which "
                    "end with step {last}; branch from there with more")},
        {"run.unread-parts",
         QT_TR_NOOP("Not all that {nodes} has of it was read: there may be later steps and a later "
                    "checkpoint. `ringmaster attach` looks again once it can be reached.")},
        {"run.trained-on-part", QT_TR_NOOP("It last trained on {ranks} of its {all} ranks, "
                                           "without {nodes}; it goes on with all.")},
        {"run.goes-on-from", QT_TR_NOOP("It goes on from step {step}.")},
        {"run.passes-over", QT_TR_NOOP("The checkpoint of step {step} is nowhere any more.")},
        {"run.not-whole-there",
         QT_TR_NOOP("{node} has no whole checkpoint of step {step}, by which it is not known from "
                    "which step the ranks go on: from the newest whole one before it, if there is "
                    "one")},
        {"run.other-nodes", QT_TR_NOOP("Nodes: {after} in place of {before}.")},
        {"run.other-ranks",
         QT_TR_NOOP("Ranks: {after} in place of {before}; a step keeps its number of samples.")},
        {"run.copies-first",
         QT_TR_NOOP("The checkpoint, {megabytes} MB, is copied from {node} to {first} first.")},
        {"run.same-nodes", QT_TR_NOOP("Nodes and ranks stay as they were.")},
        {"run.step-trained-again", QT_TR_NOOP("Step {last} is trained again.")},
        {"run.steps-trained-again", QT_TR_NOOP("Steps {first} to {last} are trained again.")},
        {"run.warning", QT_TR_NOOP("Warning: {warning}.")},

        // What was attempted with a checkpoint.
        {"checkpoint.copying", QT_TR_NOOP("Copy the checkpoint")},
        {"checkpoint.find", QT_TR_NOOP("find checkpoint {checkpoint} of {run}")},
        {"checkpoint.find-any", QT_TR_NOOP("find a checkpoint of {run}")},
        {"checkpoint.find-step", QT_TR_NOOP("find the checkpoint of step {step} of {run}")},
        {"checkpoint.bring", QT_TR_NOOP("bring the checkpoint of step {step} of {run} to {node}")},
        {"checkpoint.copy", QT_TR_NOOP("copy the checkpoint of step {step} of {run} to {node}")},
        {"checkpoint.copy-folder", QT_TR_NOOP("copy {folder}")},
        {"checkpoint.compare", QT_TR_NOOP("compare checkpoints of {run}")},
        {"checkpoint.remove", QT_TR_NOOP("remove checkpoint {checkpoint} of {run}")},
        {"checkpoint.bring-back", QT_TR_NOOP("bring back checkpoint {checkpoint} of {run}")},

        // What a model made of its inputs.
        {"samples.none-yet", QT_TR_NOOP("{run} has no sample yet: its model writes some at each "
                                        "validation.")},
        {"samples.writes-none", QT_TR_NOOP("{run} has no samples: its spec asks for none.")},
        {"samples.no-step",
         QT_TR_NOOP("show samples of {run}: there are none of step {step}; there are some of steps "
                    "{steps}")},
        {"samples.no-confusion",
         QT_TR_NOOP(
             "show what {run} confused: it has no such table; a model of pictures writes one "
             "at each validation, unless validation.pictures is 0")},
        {"samples.other-class", QT_TR_NOOP("1 other class")},
        {"samples.other-classes", QT_TR_NOOP("{count} other classes")},

        // What the model of a checkpoint is asked.
        {"try.attempt", QT_TR_NOOP("try the checkpoint of step {step} of {run}")},
        {"try.any", QT_TR_NOOP("try a checkpoint of {run}")},
        {"try.stop", QT_TR_NOOP("stop trying a checkpoint")},
        {"try.purpose", QT_TR_NOOP("a checkpoint that is tried")},
        {"try.long-text", QT_TR_NOOP("the text is longer than 64 KiB; give it a shorter one")},
        {"try.beside",
         QT_TR_NOOP("{run} trains on {node}, so this was computed on the CPU with two "
                    "threads at low priority.")},

        // Which there are, and where.
        {"checkpoint.none", QT_TR_NOOP("it has no checkpoint; begin anew with its settings: "
                                       "{command}")},
        {"checkpoint.none-known",
         QT_TR_NOOP("none of its checkpoints is known, and {nodes} may have some: not all that is "
                    "there was read, which is done once it can be reached")},
        {"checkpoint.none-known-yet",
         QT_TR_NOOP("{node} saves them, and cannot be reached now, so that it is not known whether "
                    "it has any")},
        {"checkpoint.none-known-begin-anew",
         QT_TR_NOOP("{none-known}; or begin anew with its settings: {command}")},
        {"checkpoint.none-living", QT_TR_NOOP("it has none that it could go on from")},
        {"checkpoint.at-steps", QT_TR_NOOP("its checkpoints are at steps {steps}")},
        {"checkpoint.aside-at-steps", QT_TR_NOOP("set aside are those of steps {steps}")},
        {"checkpoint.several-at-step",
         QT_TR_NOOP("several that were set aside have this step: name {names}")},
        {"checkpoint.of-other-run", QT_TR_NOOP("it is a checkpoint of {other}, not of {run}")},
        {"checkpoint.not-of-run",
         QT_TR_NOOP("{run} has no checkpoint of step {step} of attempt {attempt}")},
        {"checkpoint.not-in-folder", QT_TR_NOOP("it is not in {folder} any more")},
        {"checkpoint.folder-away",
         QT_TR_NOOP("the folder of its checkpoints, {folder}, is not on {node} now, or is empty; "
                    "nothing was changed: mount its disk there and try again, or, if that is lost, "
                    "go on from a copy on another node with --node")},
        {"checkpoint.folder-away-as",
         QT_TR_NOOP("its folder is not there now; is its disk mounted? ({why})")},
        {"checkpoint.nowhere", QT_TR_NOOP("it is not there, nor anywhere else")},
        {"checkpoint.nowhere-as", QT_TR_NOOP("it is not there, nor anywhere else: {tried}")},
        {"checkpoint.only-out-of-reach",
         QT_TR_NOOP("it is not there, and no place that has it can be reached: {tried}")},
        {"checkpoint.gone", QT_TR_NOOP("it is nowhere any more: {tried}")},
        {"checkpoint.out-of-reach", QT_TR_NOOP("no place that has it can be reached: {tried}")},
        {"checkpoint.on-no-node-both",
         QT_TR_NOOP("no node has both; copy one to where the other is")},
        {"checkpoint.older-copy", QT_TR_NOOP("; of step {step} there is a copy on {node}, "
                                             "`{command}` goes on from it")},
        {"checkpoint.goes-on-from-it", QT_TR_NOOP("the run goes on from it; only those that were "
                                                  "set aside, or saved before a change of "
                                                  "settings, can be removed")},
        {"checkpoint.unsaved",
         QT_TR_NOOP("the pause could save no checkpoint: the newest is of step {saved}, and steps "
                    "{first} to {last} are trained again")},
        {"checkpoint.none-saved",
         QT_TR_NOOP("the pause could save no checkpoint, and there is none: its {last} steps are "
                    "trained again")},
        // Changes of settings that a person takes back.
        {"revert.not-paused", QT_TR_NOOP("the run was not paused, and trains on: {why}")},
        {"revert.nothing", QT_TR_NOOP("no change of a setting is in force")},
        {"revert.no-such-change",
         QT_TR_NOOP("no command \"{change}\" changed a setting, and no setting of that name was "
                    "changed")},
        {"revert.ambiguous", QT_TR_NOOP("several commands begin so; give more of the id")},
        {"revert.not-in-force", QT_TR_NOOP("{key} was changed again since, or the run went back to "
                                           "before the change, so that nothing is to be set back")},
        {"revert.has-ended",
         QT_TR_NOOP("it is {state}, so that no rank can change a setting; going "
                    "back to the checkpoint from before the change is possible")},
        {"revert.no-checkpoint",
         QT_TR_NOOP("the checkpoint that was saved before the change at step "
                    "{step} is not there any more; the value can be set back")},
        {"checkpoint.none-removed", QT_TR_NOOP("none of that name was removed")},
        {"checkpoint.copied-to", QT_TR_NOOP("copied to {nodes}")},
        {"checkpoint.and-copied-to", QT_TR_NOOP("{node}, copied to {nodes}")},
        {"checkpoint.not-there-any-more",
         QT_TR_NOOP("its checkpoints are not on the nodes any more")},
        {"checkpoint.cleaned", QT_TR_NOOP("its checkpoints were cleaned from the nodes on {when}")},
        {"checkpoint.ended-before", QT_TR_NOOP("it {state} before its first checkpoint")},
        {"checkpoint.was-ended-before", QT_TR_NOOP("it was {state} before its first checkpoint")},
        {"checkpoint.step", QT_TR_NOOP("step {step}")},
        {"checkpoint.steps", QT_TR_NOOP("steps {first} to {last}")},

        // Why one was saved, why it is kept, and whether it is whole.
        {"checkpoint.by-hand", QT_TR_NOOP("asked for by hand")},
        {"checkpoint.by-rule", QT_TR_NOOP("asked for by a rule")},
        {"checkpoint.before-set", QT_TR_NOOP("before a change of settings")},
        {"checkpoint.before-set-of", QT_TR_NOOP("before the change of {settings}")},
        {"checkpoint.was-best", QT_TR_NOOP("was the best")},
        {"checkpoint.kept-as-best", QT_TR_NOOP("kept as best")},
        {"checkpoint.kept-as-pinned", QT_TR_NOOP("kept as it is pinned")},
        {"checkpoint.kept-as-both", QT_TR_NOOP("kept as best and pinned")},
        {"checkpoint.set-aside", QT_TR_NOOP("set aside by attempt {attempt}")},
        {"checkpoint.damaged", QT_TR_NOOP("damaged")},
        {"checkpoint.damaged-as", QT_TR_NOOP("damaged: {why}")},
        {"checkpoint.not-verified", QT_TR_NOOP("not verified: {why}")},
        {"checkpoint.whole", QT_TR_NOOP("whole")},
        {"checkpoint.whole-in", QT_TR_NOOP("whole: {places}")},
        {"checkpoint.on-node", QT_TR_NOOP("on {node}")},
        {"checkpoint.its-copy-on", QT_TR_NOOP("its copy on {node}")},
    };
};

} // namespace

TextTable runTexts() {
    return {{}, RunTexts::kPhrases};
}

} // namespace rm
