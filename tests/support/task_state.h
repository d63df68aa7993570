// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <fstream>
#include <string>

namespace rm {

/// The state of a process ("/proc/PID") or of a thread of it ("/proc/PID/task/TID") as proc(5) has
/// it: 'S' asleep in the kernel, 'T' stopped, 'Z' a zombie. 0: there is none.
inline char taskState(const std::string& folder) {
    std::ifstream file(folder + "/stat");
    std::string text;
    // Not by the buffer's iterators, which throw where the task ends between opening and reading.
    std::getline(file, text, '\0');
    const size_t name = text.rfind(')'); // of a program, which may hold anything
    return name + 2 < text.size() && name != text.npos ? text[name + 2] : '\0';
}

/// Whether it runs nothing any more.
inline bool isGone(pid_t pid) {
    const char state = taskState("/proc/" + std::to_string(pid));
    return state == 0 || state == 'Z';
}

} // namespace rm
