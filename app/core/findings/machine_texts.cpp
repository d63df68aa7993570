// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>

namespace rm {

namespace {

/// What the page Machines and the command say of machines that are looked at.
struct MachineTexts {
    Q_DECLARE_TR_FUNCTIONS(Findings)
public:
    static constexpr Phrase kPhrases[] = {
        // What was attempted: the part of an error's message before its ": ".
        {"machine.look", QT_TR_NOOP("look at machines")},
        {"machine.leave", QT_TR_NOOP("stop looking at machines")},

        // Why one is not shown, and what to do.
        {"machine.answer-there",
         QT_TR_NOOP("check {node} on the page Nodes, or with ringmaster nodes check {node}, and "
                    "answer there what it asks")},
        {"machine.older-agent",
         QT_TR_NOOP("the agent on {node} is of a release that cannot be looked at live")},
        {"machine.renew-agent",
         QT_TR_NOOP("install the agent of this release beside this program")},
        {"machine.cluster", QT_TR_NOOP("login node of a Slurm cluster, whose nodes train")},
        {"machine.look-at-cluster",
         QT_TR_NOOP("ringmaster nodes check {node} shows its partitions; squeue and sinfo there "
                    "show its jobs and nodes")},

        // Its state in two or three words.
        {"machine.connecting", QT_TR_NOOP("Connecting")},
        {"machine.unreachable", QT_TR_NOOP("Unreachable")},
        {"machine.needs-answer", QT_TR_NOOP("Needs you")},
        {"machine.no-figures", QT_TR_NOOP("No figures")},
        {"machine.is-cluster", QT_TR_NOOP("Slurm")},
        {"machine.free", QT_TR_NOOP("Free")},
        {"machine.some-free", QT_TR_NOOP("{count} free")},
        {"machine.all-busy", QT_TR_NOOP("Busy")},
        {"machine.cpu-busy", QT_TR_NOOP("CPU {share}")},
        {"machine.one-warning", QT_TR_NOOP("1 warning")},
        {"machine.warnings", QT_TR_NOOP("{count} warnings")},

        // Whose a GPU is.
        {"machine.nobody", QT_TR_NOOP("free")},
        {"machine.unlisted", QT_TR_NOOP("not listed")},
        {"machine.rank", QT_TR_NOOP("{run} · rank {rank}")},
        {"machine.of-user", QT_TR_NOOP("{program} · {user}")},
        {"machine.of-container", QT_TR_NOOP("process {pid} of another container")},
        {"machine.and-more", QT_TR_NOOP("{first} and {count} more")},
        {"machine.lost-gpu", QT_TR_NOOP("fallen off the bus: restart the machine")},

        // What needs a look, of a GPU or of the machine.
        {"machine.gpu-warning", QT_TR_NOOP("GPU {index}: {what}")},
        {"machine.hot", QT_TR_NOOP("{degrees} °C, slows down from {limit} °C on")},
        {"machine.thermal", QT_TR_NOOP("slowed by heat")},
        {"machine.hardware-slowdown", QT_TR_NOOP("slowed by the hardware")},
        {"machine.power-brake", QT_TR_NOOP("slowed by the power supply")},
        {"machine.lost", QT_TR_NOOP("fallen off the bus")},
        {"machine.memory-full", QT_TR_NOOP("memory nearly full")},

        // What holds a clock down and is as it should be.
        {"machine.power-cap", QT_TR_NOOP("at its limit of power")},
        {"machine.application-clocks", QT_TR_NOOP("at the clock that was set")},
        {"machine.sync-boost", QT_TR_NOOP("as fast as the slowest of its group")},
        {"machine.display-clocks", QT_TR_NOOP("at the clock of its display")},

        // The line below the devices.
        {"machine.cpu-of", QT_TR_NOOP("CPU {busy} of {all}")},
        {"machine.memory-of", QT_TR_NOOP("RAM {used} of {all}")},
        {"machine.interface", QT_TR_NOOP("{name} ↓ {rx}/s ↑ {tx}/s")},
        {"machine.disk", QT_TR_NOOP("disk read {read}/s, written {written}/s")},
        {"machine.gpu-clock", QT_TR_NOOP("SM {sm} MHz")},
        {"machine.gpu-clocks", QT_TR_NOOP("SM {sm} MHz, memory {memory} MHz")},
        {"machine.pcie", QT_TR_NOOP("PCIe ↓ {rx}/s ↑ {tx}/s")},
        {"machine.same-as", QT_TR_NOOP("the same machine as {nodes}")},

        // Of what it consists.
        {"machine.gpus-of", QT_TR_NOOP("{count} × {name} {memory}")},
        {"machine.driver", QT_TR_NOOP("driver {version}")},
        {"machine.cpu-model", QT_TR_NOOP("{cpus} CPUs · {model}")},
    };
};

} // namespace

TextTable machineTexts() {
    return {{}, MachineTexts::kPhrases};
}

} // namespace rm
