// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/cli.h"

#include "app/cli/answer_stream.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/core/settings/language.h"
#include "app/core/store/read_failures.h"

#include <QCoreApplication>

#include <algorithm>
#include <cstring>
#include <string>
#include <string_view>

namespace rm {

namespace {

using namespace rm::cli;

void describe(CommandLine& line) {
    line.parser().require_subcommand(1);
    line.parser().set_version_flag("--version", "ringmaster " RINGMASTER_RELEASE);
    addLaunching(line);
    addQueue(line);
    addForecast(line);
    addControls(line);
    addTracing(line);
    addRevert(line);
    addWatch(line);
    addRequested(line);
    addRuns(line);
    addLists(line);
    addLogs(line);
    addComparing(line);
    addSql(line);
    addCheckpoints(line);
    addSamples(line);
    addKeeping(line);
    addNodes(line);
    addMachines(line);
    addManual(line);
}

/// Looked up before parsing: a script gets its error as JSON even when its arguments are wrong.
bool asksForJson(int argc, char** argv) {
    return std::any_of(argv, argv + argc,
                       [](const char* word) { return std::strcmp(word, "--json") == 0; });
}

/// The command line that prints the help of the subcommand named so far.
std::string helpOf(const CLI::App& parser) {
    std::string words = "ringmaster";
    const CLI::App* command = &parser;
    while (!command->get_subcommands().empty()) {
        command = command->get_subcommands().front();
        words += ' ' + command->get_name();
    }
    return words + " --help";
}

int refuseWords(const CLI::App& parser, const CLI::ParseError& error, const std::string& word,
                bool json) {
    if (error.get_exit_code() == 0)
        return parser.exit(error);
    const auto isCalledSo = [&](const CLI::App* command) { return command->check_name(word); };
    // In the order in which they were typed; CLI11's own message lists them in reverse.
    std::string unexpected;
    if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr)
        for (const std::string& each : parser.remaining(true))
            unexpected += (unexpected.empty() ? "" : " ") + each;
    const bool isKnown = !parser.get_subcommands(isCalledSo).empty();
    const std::string why = !isKnown             ? "there is no command " + word
                            : unexpected.empty() ? error.what()
                                                 : "not understood: " + unexpected;
    return printError(json, {ErrorCode::kInvalid, why + "; see " + helpOf(parser)});
}

int parseAndPerform(CLI::App& parser, const CommandLine& line, int argc, char** argv) {
    try {
        parser.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return refuseWords(parser, error, argv[1], asksForJson(argc, argv));
    }
    CommandContext context(line.isJson());
    if (!line.needsEngine())
        return line.perform(context);
    if (const auto opened = context.open(line.needsNodes()); !opened) {
        const bool isReadable = context.canOnlyRead(opened.error());
        if (!isReadable || !(line.mayOnlyRead() || line.mayGoUnrecorded()))
            return printError(context, opened.error());
        if (line.mayOnlyRead())
            context.onlyRead(opened.error());
        else
            context.goUnrecorded(opened.error());
        return line.perform(context);
    }
    const int code = line.perform(context);
    context.finish();
    return code;
}

} // namespace

bool isTerminalCommand(int argc, char** argv) {
    if (argc < 2)
        return false;
    const std::string_view first = argv[1];
    return first.empty() || first[0] != '-' || first == "-h" || first == "--help" ||
           first == "--version";
}

int runTerminalCommand(int argc, char** argv) {
    QCoreApplication application(argc, argv);
    speakPersonsLanguage();
    CLI::App parser("Ringmaster trains models on the machines that you can reach by SSH. Without "
                    "a command it opens its window.",
                    "ringmaster");
    CommandLine line(parser);
    describe(line);
    int code = 0;
    Result<void> answered;
    {
        AnswerStream answer;
        code = parseAndPerform(parser, line, argc, argv);
        answered = answer.finish();
    }
    return answered || (code != 0 && !readFailure()) ? code
                                                     : printLast(line.isJson(), answered.error());
}

} // namespace rm
