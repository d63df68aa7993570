// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/interruption.h"

#include <csignal>

namespace rm::cli {

namespace {

constexpr int kSignals[] = {SIGINT, SIGTERM, SIGHUP};

volatile std::sig_atomic_t g_requested = 0;

void note(int signal) {
    g_requested = signal;
    std::signal(signal, SIG_DFL);
}

} // namespace

Interruption::Interruption() {
    g_requested = 0;
    for (const int signal : kSignals)
        std::signal(signal, &note);
}

Interruption::~Interruption() {
    for (const int signal : kSignals)
        std::signal(signal, SIG_DFL);
}

bool Interruption::isRequested() const {
    return g_requested != 0;
}

int Interruption::exitCode() const {
    return 128 + g_requested;
}

} // namespace rm::cli
