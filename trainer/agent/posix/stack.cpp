// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/posix/stack.h"

#include "trainer/agent/posix/process.h"

#include <cxxabi.h>
#include <elfutils/libdwfl.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <vector>

namespace rm {

namespace {

constexpr size_t kMostFrames = 48;
constexpr size_t kMostThreads = 4;

std::string firstLineOf(const std::string& path) {
    std::ifstream file(path);
    std::string line;
    std::getline(file, line);
    return line;
}

int noDebugInfo(Dwfl_Module*, void**, const char*, Dwarf_Addr, const char*, const char*, GElf_Word,
                char**) {
    return -1; // frames and symbols are in the files themselves
}

const Dwfl_Callbacks& callbacks() {
    static const Dwfl_Callbacks all = [] {
        Dwfl_Callbacks made{};
        made.find_elf = dwfl_linux_proc_find_elf;
        made.find_debuginfo = noDebugInfo;
        return made;
    }();
    return all;
}

struct Frames {
    std::string text;
    size_t count = 0;
};

/// Adds a frame to Frames. Frames before main are the C library's.
int addFrame(Dwfl_Frame* frame, void* to) {
    auto& frames = *static_cast<Frames*>(to);
    Dwarf_Addr address = 0;
    bool isActivation = false;
    if (!dwfl_frame_pc(frame, &address, &isActivation))
        return DWARF_CB_ABORT;
    if (!isActivation)
        --address; // the call's, not that of what follows it
    Dwfl_Module* module = dwfl_addrmodule(dwfl_thread_dwfl(dwfl_frame_thread(frame)), address);
    const char* symbol = module ? dwfl_module_addrname(module, address) : nullptr;
    const char* file = module ? dwfl_module_info(module, nullptr, nullptr, nullptr, nullptr,
                                                 nullptr, nullptr, nullptr)
                              : nullptr;
    const std::string name = symbol ? shortFunctionName(symbol)
                             : file ? "(" + std::filesystem::path(file).filename().string() + ")"
                                    : "(?)";
    frames.text += (frames.count ? " < " : "") + name;
    return ++frames.count < kMostFrames && name != "main" ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/// The first thread and those that run backward passes.
std::vector<pid_t> threadsOf(pid_t pid) {
    std::vector<pid_t> threads{pid};
    std::error_code error;
    const std::string folder = "/proc/" + std::to_string(pid) + "/task";
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
        const pid_t thread = std::atoi(entry.path().filename().c_str());
        const std::string name = firstLineOf(entry.path().string() + "/comm");
        if (thread != pid && name.starts_with("pt_autograd") && threads.size() < kMostThreads)
            threads.push_back(thread);
    }
    return threads;
}

/// libdwfl reports none, or errno 0, for a process that dies while it is looked at.
std::string whyUnread(const ProcessId& process) {
    const int error = dwfl_errno();
    if (!isAlive(process))
        return "its stack cannot be read: the process has ended";
    const char* message = error != 0 ? dwfl_errmsg(error) : nullptr;
    if (!message || std::strcmp(message, std::strerror(0)) == 0)
        message = "no function of it could be found";
    return std::string("its stack cannot be read: ") + message;
}

std::string framesOf(pid_t pid) {
    const ProcessId id = identify(pid);
    const std::unique_ptr<Dwfl, void (*)(Dwfl*)> process(dwfl_begin(&callbacks()), &dwfl_end);
    if (!process || dwfl_linux_proc_report(process.get(), pid) != 0 ||
        dwfl_report_end(process.get(), nullptr, nullptr) != 0 ||
        dwfl_linux_proc_attach(process.get(), pid, false) != 0)
        return "main: " + whyUnread(id) + "\n";
    std::string text;
    for (const pid_t thread : threadsOf(pid)) {
        Frames frames;
        // Its result is not asked: one that ends in the middle has told what it could.
        static_cast<void>(dwfl_getthread_frames(process.get(), thread, addFrame, &frames));
        const std::string task = "/proc/" + std::to_string(pid) + "/task/" + std::to_string(thread);
        text += (thread == pid ? "main" : firstLineOf(task + "/comm")) + ": " +
                (frames.count ? frames.text : whyUnread(id)) + "\n";
    }
    return text;
}

} // namespace

std::string shortFunctionName(const char* symbol) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void*)> readable(
        abi::__cxa_demangle(symbol, nullptr, nullptr, &status), &std::free);
    if (!readable)
        return symbol;
    const std::string_view whole = readable.get();
    constexpr std::string_view kUnnamed = "(anonymous namespace)";
    std::string name;
    int depth = 0; // in template arguments
    for (size_t i = 0; i < whole.size(); ++i) {
        const bool isUnnamed = whole.substr(i).starts_with(kUnnamed);
        if (whole[i] == '(' && depth == 0 && !isUnnamed)
            break;
        if (isUnnamed) {
            i += kUnnamed.size() + 1; // and its "::"
            continue;
        }
        depth += whole[i] == '<';
        if (depth == 0)
            name += whole[i];
        depth -= whole[i] == '>' && depth > 0;
    }
    if (const size_t space = name.rfind(' '); space != name.npos && space + 1 < name.size())
        name = name.substr(space + 1); // a template names what it returns
    return name.empty() ? std::string(whole) : name;
}

std::string stackOf(pid_t pid) {
    const std::string folder = "/proc/" + std::to_string(pid);
    std::string text = framesOf(pid);
    const std::string place = firstLineOf(folder + "/wchan");
    if (!place.empty() && place != "0")
        text += "kernel: " + place + "\n";
    return text;
}

} // namespace rm
