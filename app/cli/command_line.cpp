// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/command_line.h"

#include <charconv>
#include <utility>

namespace rm::cli {

CLI::App* CommandLine::add(CLI::App& group, const char* name, const char* description,
                           Action action) {
    CLI::App* command = group.add_subcommand(name, description);
    command->add_flag("--json", m_isJson, "Answer in JSON on standard output");
    command->callback([this, action = std::move(action)] { m_action = action; });
    return command;
}

CLI::App* CommandLine::addOfRun(CLI::App& group, const char* name, const char* description,
                                std::string& run, Action action) {
    CLI::App* command = add(group, name, description, std::move(action));
    command->add_option("RUN", run, kRunHelp)->required();
    return command;
}

CLI::App* CommandLine::addGroup(const char* name, const char* description, Action action) {
    CLI::App* group = m_parser.add_subcommand(name, description);
    if (!action) {
        group->require_subcommand(1);
        return group;
    }
    group->require_subcommand(0, 1);
    group->add_flag("--json", m_isJson, "Answer in JSON on standard output");
    // CLI11 calls this after that of a subcommand.
    group->callback([this, action = std::move(action)] {
        if (!m_action)
            m_action = action;
    });
    return group;
}

void CommandLine::needNodes(CLI::App& command) {
    command.preparse_callback([this](size_t) { m_needsNodes = true; });
}

void CommandLine::needNoEngine(CLI::App& command) {
    command.preparse_callback([this](size_t) { m_needsEngine = false; });
}

void CommandLine::mayOnlyRead(CLI::App& command) {
    command.preparse_callback([this](size_t) { m_mayOnlyRead = true; });
}

void CommandLine::mayGoUnrecorded(CLI::App& command) {
    command.preparse_callback([this](size_t) { m_mayGoUnrecorded = true; });
}

std::function<std::string(const std::string&)> wholeNumber(const char* what, int64_t least,
                                                           int64_t most) {
    return [=](const std::string& typed) {
        int64_t number = 0;
        const char* end = typed.data() + typed.size();
        const auto parsed = std::from_chars(typed.data(), end, number);
        const bool isGood = parsed.ec == std::errc() && parsed.ptr == end;
        if (isGood && number >= least && number <= most)
            return std::string();
        return std::string(what) + ": a whole number from " + std::to_string(least) + " to " +
               std::to_string(most);
    };
}

} // namespace rm::cli
