// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace rm::cli {

/// While it lives, Ctrl+C, SIGTERM and a closed terminal ask the program to give up what it does
/// instead of ending it; a second one ends it at once. One at a time.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    bool isAsked() const;
    /// What a shell expects of a program that gave up: 128 + the signal.
    int exitCode() const;
};

} // namespace rm::cli
