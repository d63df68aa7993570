// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

namespace rm::cli {

class CommandContext;

/// The commands of the terminal while they are declared and parsed: each *_commands.cpp adds its
/// own (commands.h), with their options beside what they do. One thread.
class CommandLine {
public:
    /// Does a command and returns its exit code.
    using Action = std::function<int(CommandContext&)>;

    explicit CommandLine(CLI::App& parser)
        : m_parser(parser) {}

    CLI::App& parser() { return m_parser; }

    /// What a command's options are parsed into; it lives as long as this.
    template <class Options>
    Options& keep() {
        auto options = std::make_shared<Options>();
        m_kept.push_back(options);
        return *options;
    }

    /// Adds a command with --json. `group`: what it is a subcommand of.
    CLI::App* add(const char* name, const char* description, Action action) {
        return add(m_parser, name, description, std::move(action));
    }
    CLI::App* add(CLI::App& group, const char* name, const char* description, Action action);

    /// Adds a command whose first argument, RUN, is parsed into `run`.
    CLI::App* addOfRun(const char* name, const char* description, std::string& run, Action action) {
        return addOfRun(m_parser, name, description, run, std::move(action));
    }
    CLI::App* addOfRun(CLI::App& group, const char* name, const char* description, std::string& run,
                       Action action);

    /// Adds commands, whose options the caller declares. `action`: if no subcommand was named;
    /// without one the group needs a subcommand.
    CLI::App* addGroup(const char* name, const char* description, Action action = {});

    /// The command reads or changes the list of nodes, or needs more of them than a run has.
    void needNodes(CLI::App& command);
    /// The command does without engine and nodes.
    void needNoEngine(CLI::App& command);

    /// The command shows what is stored also where that cannot be written, as on a disk that is
    /// mounted read-only.
    void mayOnlyRead(CLI::App& command);

    /// The command is sent to ranks also where it cannot be noted here for the same reason.
    void mayGoUnrecorded(CLI::App& command);

    // What was typed, once it is parsed.

    bool isJson() const { return m_isJson; }
    bool needsNodes() const { return m_needsNodes; }
    bool needsEngine() const { return m_needsEngine; }
    bool mayOnlyRead() const { return m_mayOnlyRead; }
    bool mayGoUnrecorded() const { return m_mayGoUnrecorded; }
    int perform(CommandContext& context) const { return m_action(context); }

private:
    CLI::App& m_parser;
    std::vector<std::shared_ptr<void>> m_kept;
    bool m_isJson = false;
    bool m_needsNodes = false;
    bool m_needsEngine = true;
    bool m_mayOnlyRead = false;
    bool m_mayGoUnrecorded = false;
    Action m_action;
};

/// An option's check: CLI11's own are of real numbers, and name their bounds with all 309 digits.
std::function<std::string(const std::string&)> wholeNumber(const char* what, int64_t least,
                                                           int64_t most);

// What several commands say of the same option.
inline constexpr const char* kCheckpointHelp =
    "A step or the name of a folder, of `checkpoints RUN`";
inline constexpr const char* kCheckpointOrNewestHelp =
    "A step or the name of a folder, of `checkpoints RUN`; default: the newest";
inline constexpr const char* kRunHelp = "Id, start of an id, or name of a run";
inline constexpr const char* kRunsHelp = "Ids, starts of ids, or names of runs";

} // namespace rm::cli
