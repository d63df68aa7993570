// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// What requests answer, how far a launch is, and why a process cannot open the database.
struct EngineTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr Phrase kPhrases[] = {
        // What was attempted: the part of an error's message before its ": ".
        {"engine.branch", QT_TR_NOOP("branch {run}")},
        {"engine.branch-from", QT_TR_NOOP("branch from {parent}")},
        {"engine.start", QT_TR_NOOP("start {run}")},
        {"engine.reproduce", QT_TR_NOOP("launch {run} again as it was")},
        {"engine.differs", QT_TR_NOOP("{what}: {then} then, {now} now")},
        {"engine.not-known", QT_TR_NOOP("not known")},
        {"engine.start-ranks", QT_TR_NOOP("start ranks")},
        {"engine.go-on-from", QT_TR_NOOP("go on from step {step} of {run}")},
        {"engine.look-at-resuming", QT_TR_NOOP("look at resuming {run}")},
        {"engine.ask-node", QT_TR_NOOP("ask node {node}")},
        {"engine.check-launch", QT_TR_NOOP("check the launch")},
        {"engine.show-script", QT_TR_NOOP("show the script of the job")},
        {"engine.withdraw", QT_TR_NOOP("withdraw command {command} of {run}")},
        {"engine.declare-lost", QT_TR_NOOP("declare {node} of {run} lost")},
        {"engine.follow", QT_TR_NOOP("follow {run}")},
        {"engine.read-rest-of-all", QT_TR_NOOP("read what its nodes have of {run}")},
        {"engine.copy-checkpoint", QT_TR_NOOP("copy a checkpoint of {run}")},
        {"engine.pin", QT_TR_NOOP("pin checkpoint {checkpoint} of {run}")},
        {"engine.pin-one", QT_TR_NOOP("pin a checkpoint of {run}")},
        {"engine.unpin", QT_TR_NOOP("unpin checkpoint {checkpoint} of {run}")},
        {"engine.unpin-one", QT_TR_NOOP("unpin a checkpoint of {run}")},
        {"engine.remove-one", QT_TR_NOOP("remove a checkpoint of {run}")},
        {"engine.bring-back-one", QT_TR_NOOP("bring back a checkpoint of {run}")},
        {"engine.verify", QT_TR_NOOP("verify checkpoint {checkpoint} of {run}")},
        {"engine.clean-node", QT_TR_NOOP("clean {node}")},
        {"engine.clean-lost-node", QT_TR_NOOP("clean {node}, which was declared lost")},
        {"engine.clean-run", QT_TR_NOOP("clean {run}")},
        {"engine.stop-measuring", QT_TR_NOOP("stop measuring the network")},
        {"engine.end-leftovers", QT_TR_NOOP("end leftovers on {node}")},
        {"engine.stop-trial", QT_TR_NOOP("stop the {trial}")},
        {"engine.note", QT_TR_NOOP("note on {run}")},
        {"engine.tag", QT_TR_NOOP("tag {run}")},
        {"engine.star", QT_TR_NOOP("star {run}")},
        {"engine.unstar", QT_TR_NOOP("take the star from {run}")},
        {"engine.archive", QT_TR_NOOP("archive {run}")},
        {"engine.unarchive", QT_TR_NOOP("bring {run} back from the archive")},
        {"engine.rename", QT_TR_NOOP("rename {run}")},
        {"engine.delete", QT_TR_NOOP("delete {run}")},
        {"engine.bring-back", QT_TR_NOOP("bring back {run}")},
        {"engine.empty-trash", QT_TR_NOOP("empty the trash")},
        {"engine.look-on-nodes", QT_TR_NOOP("look for {run} on its nodes")},
        {"engine.show-window", QT_TR_NOOP("show the window")},
        {"engine.open", QT_TR_NOOP("open {database}")},
        {"engine.listen-on", QT_TR_NOOP("listen on {socket}")},
        {"engine.listen-in", QT_TR_NOOP("listen in {folder}")},
        {"engine.look-at-folder", QT_TR_NOOP("look at {folder}")},
        {"engine.protect-folder", QT_TR_NOOP("protect {folder}")},

        // How far a launch is.
        {"engine.starting", QT_TR_NOOP("Starting")},
        {"engine.look-for-checkpoint", QT_TR_NOOP("Look for the checkpoint")},
        {"engine.verify-the-checkpoint", QT_TR_NOOP("Verify the checkpoint")},
        {"engine.look-for-earlier", QT_TR_NOOP("Look for an earlier run")},
        {"engine.catch-up", QT_TR_NOOP("Catch up with the earlier run")},

        // Why ranks are not started, and from where they go on.
        {"engine.started-already", QT_TR_NOOP("it is being started already")},
        {"engine.start-there", QT_TR_NOOP("another Ringmaster has this database open; start the "
                                          "run there, or close it first")},
        {"engine.launch-is-cancelled", QT_TR_NOOP("its launch is cancelled")},
        {"engine.store-the-run", QT_TR_NOOP("store the run, which was not started")},
        {"engine.not-found-again",
         QT_TR_NOOP("the run {run} was stored and is not found again, so it was not started: the "
                    "list of runs is damaged; close Ringmaster and run `ringmaster recover`")},
        {"engine.launch-was-cancelled", QT_TR_NOOP("its launch was cancelled")},
        {"engine.launch-was-interrupted",
         QT_TR_NOOP("the launch was interrupted before its ranks trained")},
        {"engine.pause-or-stop-first", QT_TR_NOOP("it is {state}; pause or stop it first")},
        {"engine.end-not-known",
         QT_TR_NOOP("its end on {node} is not known, as that cannot be reached; wait for it, or "
                    "declare it lost: {command}")},
        {"engine.end-is-nowhere",
         QT_TR_NOOP(
             "its end on {node} is not known: that node answers, and has nothing of the run; "
             "follow the run ({attach}), which takes it for ended there after {seconds} s, "
             "or declare the node lost: {command}")},
        {"engine.edited-while-live",
         QT_TR_NOOP("{node} has ranks of {runs}, which are looked for by the new settings from now "
                    "on; if those lead to another machine, they train on there unseen until the "
                    "settings are as before")},
        {"engine.list-is-away",
         QT_TR_NOOP(
             "it is not there any more, and another Ringmaster works with it; bring it back, "
             "or end that one to begin a new list")},
        {"engine.rest-is-ending",
         QT_TR_NOOP("{node} was declared lost, and the ranks on the other nodes are being killed; "
                    "try again in a moment")},
        {"engine.in-trash", QT_TR_NOOP("it is in the trash; bring it back first: {command}")},
        {"engine.lost-node-is-ending",
         QT_TR_NOOP("{node} was declared lost, and what lives of the run there is being ended; try "
                    "again in a moment")},
        {"engine.lives-unknown",
         QT_TR_NOOP("attempt {attempt} of it lives on {node}, of which nothing is known here; "
                    "another Ringmaster may follow it: stop it there first")},
        {"engine.odd-attempt", QT_TR_NOOP("{node} says that attempt {attempt} of it began there; "
                                          "clean the run there first")},
        {"engine.branch-again", QT_TR_NOOP("it is a branch of {parent} at step {step}: branch from "
                                           "there again")},
        {"engine.choose-another",
         QT_TR_NOOP("the checkpoint is damaged: {why}; choose another one")},
        {"engine.passed-over-damaged",
         QT_TR_NOOP("checkpoint step {step} of {run} is damaged ({why}); the run goes on from step "
                    "{older}")},
        {"engine.passed-over-gone", QT_TR_NOOP("checkpoint step {step} of {run} is gone ({why}); "
                                               "the run goes on from step {older}")},
        {"engine.goes-on-from-older", QT_TR_NOOP("{why}; the run goes on from step {older}")},
        {"engine.attempt", QT_TR_NOOP("attempt {attempt}")},
        {"engine.look-at-script", QT_TR_NOOP("a look at the script of a job")},
        {"engine.no-script", QT_TR_NOOP("{node} starts ranks without one; only a Slurm cluster "
                                        "gets a script")},

        // An earlier run of the launch's name.
        {"engine.still-runs", QT_TR_NOOP("{run} is still running; follow it ({command}), or pause "
                                         "or stop it first")},
        {"engine.still-runs-on", QT_TR_NOOP("{run} is still running on {nodes}; follow it "
                                            "({command}), or pause or stop it first")},
        {"engine.earlier-being-started", QT_TR_NOOP("{run} is being started; stop it first")},
        {"engine.end-unknown", QT_TR_NOOP("it does not say that the run has ended")},
        {"engine.unread", QT_TR_NOOP("{why}; try again once it can be reached, or declare it lost: "
                                     "{command}")},
        {"engine.not-followed", QT_TR_NOOP("they could not be followed; {command} tells why")},
        {"engine.unknown-run", QT_TR_NOOP("the run \"{name}\", which is not known here")},
        {"engine.unknown-run-of", QT_TR_NOOP("the run \"{name}\" ({id}), which is not known here")},
        {"engine.checkpoints-elsewhere",
         QT_TR_NOOP("its checkpoints in {folder} are on {node}, not on {first}; name that node "
                    "first, or mount the folder on both")},
        {"engine.goes-on-as-same",
         QT_TR_NOOP("the run {run} goes on with its next attempt from step {step} on")},
        {"engine.goes-on-as-new",
         QT_TR_NOOP("a new run goes on where {run} was, from step {step} on, as its settings "
                    "differ in {settings}")},
        {"engine.goes-on-from-unknown", QT_TR_NOOP("a new run goes on from step {step} of {run}")},
        {"engine.goes-on-by-itself",
         QT_TR_NOOP("the run {run} goes on by itself, with attempt {attempt}")},
        {"engine.begins-from-scratch",
         QT_TR_NOOP("there was nothing to go on from: it begins from scratch")},
        {"engine.launched-to-resume",
         QT_TR_NOOP("launched with checkpoint.on_existing = \"resume\": {found}")},

        // What becomes of a command.
        {"engine.wait-or-stop",
         QT_TR_NOOP("its ranks are being started; wait until they train or stop it")},
        {"engine.ranks-being-started", QT_TR_NOOP("its ranks are being started")},
        {"engine.is-already", QT_TR_NOOP("it is {state}")},
        {"engine.no-rank-can", QT_TR_NOOP("it is {state}, so no rank can do it")},
        {"engine.nothing-waits", QT_TR_NOOP("the run is {state}, so nothing waits for it")},
        {"engine.answered-already", QT_TR_NOOP("it has its answer already, or there is none such")},
        {"engine.accepted-by-node", QT_TR_NOOP("a node has accepted it")},
        {"engine.may-take-effect",
         QT_TR_NOOP("if a node got it before its link broke, it takes effect there all the same")},
        {"engine.withdrawn", QT_TR_NOOP("withdrawn; {left}")},
        {"engine.killed-on", QT_TR_NOOP("{node}, which was declared lost: killed")},
        {"engine.nothing-lived-on",
         QT_TR_NOOP("{node}, which was declared lost: nothing of it lived there")},
        {"engine.not-killed-on",
         QT_TR_NOOP("{node}, which was declared lost: {why}; what lives there is killed as soon as "
                    "that is possible")},
        {"engine.not-heard-on",
         QT_TR_NOOP("{node}, which was declared lost, has not answered yet; what lives there is "
                    "killed as soon as it does")},
        {"engine.on-no-node", QT_TR_NOOP("it is on no node")},
        {"engine.node-was-removed", QT_TR_NOOP("it was removed from the list of nodes")},

        // What is cleaned, ended and measured.
        {"engine.being-started", QT_TR_NOOP("it is being started; stop it first")},
        {"engine.stop-or-pause-first", QT_TR_NOOP("it is {state}; stop or pause it first")},
        {"engine.closed", QT_TR_NOOP("this Ringmaster was closed")},
        {"engine.no-copy", QT_TR_NOOP("{checkpoint} has no copy on {node}: {why}")},
        {"engine.no-node-chosen", QT_TR_NOOP("launch: no node was chosen")},
        {"engine.node-named-twice", QT_TR_NOOP("launch: node {node} is named twice")},
        {"engine.no-database", QT_TR_NOOP("no database there")},
        {"engine.no-run", QT_TR_NOOP("find run {run}: there is none")},
        {"engine.database-is-open", QT_TR_NOOP("another Ringmaster has this database open")},
        {"engine.no-effect", QT_TR_NOOP("{command} has no effect: {why}")},
        {"engine.not-recorded", QT_TR_NOOP("it could not be recorded here: {why}")},
        {"engine.not-listed-any-more", QT_TR_NOOP("it is not in the list of nodes any more")},
        {"engine.wait-for-ranks", QT_TR_NOOP("ranks are being started; wait until they train")},
        {"engine.removed-already", QT_TR_NOOP("Ringmaster is being removed from it already, by "
                                              "another terminal or window")},
        {"engine.no-such-run", QT_TR_NOOP("there is no run {run}; see ringmaster nodes check")},
        {"engine.not-ended",
         QT_TR_NOOP("{run} has not ended; stop or kill it as a run, if that is meant")},
        {"engine.of-another", QT_TR_NOOP("{run} lives and is of another Ringmaster; it is ended "
                                         "only by who agrees to that")},
        {"engine.measured-already", QT_TR_NOOP("it is being measured already")},
        {"engine.too-few-nodes",
         QT_TR_NOOP("there is nothing to measure between fewer than two nodes; name two or more, "
                    "or add some")},

        // Between the processes that share a database.
        {"engine.not-your-folder", QT_TR_NOOP("it is not a folder of yours")},
        {"engine.other-release",
         QT_TR_NOOP("Ringmaster {other} (pid {pid}) has it open, and this is {own}; close that one "
                    "first, or use its release")},
        {"engine.does-not-answer", QT_TR_NOOP("{refusal}, which does not answer; continue it if it "
                                              "is suspended (fg), or end it")},
        {"engine.holder-is-silent",
         QT_TR_NOOP("the Ringmaster of process {pid}, which talks to the nodes, does not answer; "
                    "continue it if it is suspended (fg), or end it")},
        {"engine.cannot-join", QT_TR_NOOP("other terminals and windows cannot join: {why}")},
        {"engine.request-too-long", QT_TR_NOOP("longer than 1 MiB")},
        {"engine.answer-too-long",
         QT_TR_NOOP("the answer exceeds the 1 MiB that go from one process to another; ask for "
                    "less at a time, such as fewer nodes")},
        {"engine.other-answer", QT_TR_NOOP("answered with something else")},
        {"engine.starter-ended",
         QT_TR_NOOP("the Ringmaster that was starting it (pid {pid}) has ended; `ringmaster runs` "
                    "lists {run} if it was created")},
    };
};

} // namespace

TextTable engineTexts() {
    return {{}, EngineTexts::kPhrases};
}

} // namespace rm
