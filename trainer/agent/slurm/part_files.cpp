// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/slurm/part_files.h"

#include "shared/io/descriptor.h"
#include "shared/io/file.h"
#include "shared/io/frame.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <span>

namespace rm {

namespace {

constexpr size_t kMostBytes = 4 << 20;
constexpr const char* kStateFile = "state";

/// Without a sync: what a crash loses is asked for again.
Result<void> writeMessage(const std::string& folder, const std::string& name,
                          const Message& message) {
    const std::string path = folder + "/" + name;
    const std::string unfinished = folder + "/.new-" + std::to_string(::getpid()) + "-" + name;
    const std::vector<std::byte> frame = frameMessage(message);
    {
        auto file = openFile(unfinished, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (!file)
            return tl::unexpected(file.error());
        if (const auto written = writeAll(file->get(), frame, unfinished); !written)
            return written;
    }
    if (::rename(unfinished.c_str(), path.c_str()) != 0)
        return failErrno("write " + path, errno);
    return {};
}

std::optional<Message> readMessage(const std::string& path) {
    const auto text = readFile(path, kMostBytes);
    if (!text)
        return std::nullopt;
    FrameScanner frames;
    frames.feed(std::as_bytes(std::span(*text)));
    const auto payload = frames.next();
    if (!payload || !*payload)
        return std::nullopt;
    const Result<Message> message = decodeMessage(**payload);
    return message ? std::optional(*message) : std::nullopt;
}

/// Takes the messages in the order of their names; a file that is none is removed as well.
template <class T>
std::vector<T> takeAll(const std::string& folder, const std::string& prefix) {
    std::vector<std::string> paths;
    std::error_code error;
    for (std::filesystem::directory_iterator at(folder, error), end; !error && at != end;
         at.increment(error))
        if (at->path().filename().string().starts_with(prefix))
            paths.push_back(at->path().string());
    std::ranges::sort(paths);
    std::vector<T> taken;
    for (const std::string& path : paths) {
        const auto message = readMessage(path);
        if (::unlink(path.c_str()) != 0 || !message)
            continue; // another reader has it
        if (const T* one = std::get_if<T>(&*message))
            taken.push_back(*one);
    }
    return taken;
}

/// The name of a file for an id, which may be any text.
std::string nameOf(const std::string& id) {
    return sha256Hex(std::as_bytes(std::span(id))).substr(0, 32);
}

} // namespace

PartFiles::PartFiles(const std::string& partDir)
    : m_folder(partDir + "/relay") {}

Result<void> PartFiles::open() const {
    ::unlink((m_folder + "/" + kStateFile).c_str());
    return makeFolders(m_folder);
}

std::vector<Command> PartFiles::takeCommands() const {
    return takeAll<Command>(m_folder, "command-");
}

void PartFiles::answer(const std::vector<CommandState>& states) const {
    for (const CommandState& state : states)
        (void)writeMessage(m_folder,
                           "answer-" + nameOf(state.id) + "-" +
                               std::to_string(static_cast<int>(state.progress)),
                           state);
}

void PartFiles::publish(const RunState& state) const {
    (void)writeMessage(m_folder, kStateFile, state);
}

Result<void> PartFiles::put(const Command& command) const {
    if (const auto made = makeFolders(m_folder); !made)
        return made;
    return writeMessage(m_folder, "command-" + nameOf(command.id), command);
}

std::vector<CommandState> PartFiles::takeAnswers() const {
    return takeAll<CommandState>(m_folder, "answer-");
}

std::optional<RunState> PartFiles::state() const {
    const auto message = readMessage(m_folder + "/" + kStateFile);
    const RunState* state = message ? std::get_if<RunState>(&*message) : nullptr;
    return state ? std::optional(*state) : std::nullopt;
}

} // namespace rm
