// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace rm::cli {

/// While it lives, Ctrl+C, SIGTERM and a closed terminal do not end the program but ask it to
/// cancel what it is doing; the same signal again ends it at once. Only one may exist at a time.
class Interruption {
public:
    Interruption();
    ~Interruption();
    Interruption(const Interruption&) = delete;
    Interruption& operator=(const Interruption&) = delete;

    bool isRequested() const;
    /// What a shell expects of a program that gave up: 128 + the signal.
    int exitCode() const;
};

} // namespace rm::cli
