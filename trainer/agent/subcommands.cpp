// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/subcommands.h"

#include "shared/exit_code.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "shared/wire/messages.h"
#include "trainer/agent/attach/attach.h"
#include "trainer/agent/checkpoint_fetcher.h"
#include "trainer/agent/checkpoints.h"
#include "trainer/agent/machine/machine_stream.h"
#include "trainer/agent/net/reach.h"
#include "trainer/agent/posix/fd.h"
#include "trainer/agent/posix/stack.h"
#include "trainer/agent/probe/fingerprint.h"
#include "trainer/agent/probe/folder.h"
#include "trainer/agent/probe/paths.h"
#include "trainer/agent/probe/probe.h"
#include "trainer/agent/prune/prune.h"
#include "trainer/agent/receive/checkpoint_receiver.h"
#include "trainer/agent/receive/receiver.h"
#include "trainer/agent/run_dir/folders.h"
#include "trainer/agent/run_dir/release.h"
#include "trainer/agent/slurm/slurm.h"
#include "trainer/agent/supervisor/in_job.h"
#include "trainer/agent/supervisor/start.h"
#include "trainer/agent/supervisor/stop.h"
#include "trainer/agent/supervisor/submit.h"
#include "trainer/agent/supervisor/trainer_call.h"
#include "trainer/agent/uninstall.h"

#include <unistd.h>

#include <charconv>
#include <csignal>
#include <map>
#include <optional>

namespace rm {

namespace {

using Arguments = std::vector<std::string>;
constexpr size_t kMaxOrder = 4 << 20;
constexpr int kMostNodes = 1 << 16;

Result<void> print(const Result<std::string>& text) {
    if (!text)
        return tl::unexpected(text.error());
    return writeText(STDOUT_FILENO, *text, "stdout");
}

Result<void> version(const Arguments&) {
    return print("ringmaster-agent " + std::string(kRelease) + " wire " +
                 std::to_string(kWireVersion) + "\n");
}

/// A question that `ask` may put beside others: a text in, a text out.
struct Question {
    const char* usage;
    Result<std::string> (*answer)(const std::string& input);
    bool hasInput = true;
};

Result<std::string> probe(const std::string&) {
    const Folders folders = Folders::fromEnvironment();
    NodeReport report = probeNode(folders, SysRoot{}, *openNvmlGpus());
    report.otherAgents = otherAgents(folders);
    return toJson(report) + "\n";
}

Result<std::string> folder(const std::string& order) {
    return folderReport(Folders::fromEnvironment(), order);
}

const std::map<std::string, Question>& questions() {
    static const std::map<std::string, Question> table = {
        {"probe", {"probe", probe, false}},
        {"paths", {"paths < [\"PATH\", ...]", pathsReport}},
        {"folder", {"folder < {\"path\", \"mark\", \"do\"}", folder}},
        {"fingerprint",
         {"fingerprint < {\"paths\", \"pictures\", \"seconds\"}", fingerprintReport}},
        {"find-checkpoint", {"find-checkpoint < PATH", checkpointAt}},
        {"saved-runs", {"saved-runs < {\"folder\", \"name\"}", savedRunsAt}},
    };
    return table;
}

/// One item of what `ask` reads, answered as a process of its own would: {"answer"}, or {"exit",
/// "error"} with the number of rm::ExitCode.
Json answerTo(const Json& item) {
    const bool isPair =
        item.is_array() && item.size() == 2 && item[0].is_string() && item[1].is_string();
    const auto found = isPair ? questions().find(item[0].get<std::string>()) : questions().end();
    const Result<std::string> answer =
        found == questions().end()
            ? fail(ErrorCode::kInvalid, "ask: an item must be a question and its input")
            : found->second.answer(item[1].get<std::string>());
    if (answer)
        return {{"answer", *answer}};
    const auto exit = static_cast<int>(exitCodeFor(answer.error().code));
    return {{"exit", exit}, {"error", answer.error().message}};
}

Result<void> ask(const Arguments&) {
    RM_ASSIGN_OR_RETURN(const std::string order, readToEnd(STDIN_FILENO, kMaxOrder, "stdin"));
    RM_ASSIGN_OR_RETURN(const Json items, parseJson(order, "stdin"));
    if (!items.is_array())
        return fail(ErrorCode::kInvalid, "ask: stdin must hold a list");
    Json answers = Json::array();
    for (const Json& item : items)
        answers.push_back(answerTo(item));
    return print(dumpJson(answers) + "\n");
}

Result<void> start(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const std::string order, readToEnd(STDIN_FILENO, kMaxOrder, "stdin"));
    return print(startRun(Folders::fromEnvironment(), arguments[0], order));
}

Result<void> trainer(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const std::string order, readToEnd(STDIN_FILENO, kMaxOrder, "stdin"));
    return becomeTrainer(arguments, order);
}

Result<void> slurmInfoHere(const Arguments&) {
    return print(slurmInfo());
}

Result<void> submit(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const std::string order, readToEnd(STDIN_FILENO, kMaxOrder, "stdin"));
    return print(submitRun(Folders::fromEnvironment(), arguments[0], order));
}

Result<void> jobState(const Arguments& arguments) {
    return print(jobStateOf(Folders::fromEnvironment(), arguments[0]));
}

/// Exits with a code that is for the script of the job.
Result<void> inJob(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const int code, runInJob(Folders::fromEnvironment(), arguments[0]));
    ::_exit(code);
}

// The value of an argument, within bounds; `name` is for the error.
Result<int> number(const std::string& text, const std::string& name, int least, int most) {
    int value = 0;
    const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
    if (parsed.ec != std::errc() || parsed.ptr != text.data() + text.size() || value < least ||
        value > most)
        return fail(ErrorCode::kInvalid, name + " takes a number from " + std::to_string(least) +
                                             " to " + std::to_string(most) + ", not '" + text +
                                             "'");
    return value;
}

Result<int> nodeIndex(const Arguments& arguments) {
    return number(arguments[1], "NODE", 0, kMostNodes);
}

Result<void> attach(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const int node, nodeIndex(arguments));
    return attachRun(Folders::fromEnvironment(), arguments[0], node);
}

Result<void> adopt(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const int node, nodeIndex(arguments));
    return print(adoptRun(Folders::fromEnvironment(), arguments[0], node));
}

Result<void> stack(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const int pid, number(arguments[0], "PID", 1, 1 << 30));
    return print(stackOf(pid));
}

Result<void> receive(const Arguments&) {
    return receiveAll(Folders::fromEnvironment().home, STDIN_FILENO, STDOUT_FILENO);
}

// Whether the optional second argument was given. An error if another one is in its place.
Result<bool> hasFlag(const Arguments& arguments, const std::string& flag) {
    if (arguments.size() < 2)
        return false;
    if (arguments[1] != flag)
        return fail(ErrorCode::kInvalid,
                    "'" + arguments[1] + "': only " + flag + " may stand here");
    return true;
}

Result<void> stop(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const bool kill, hasFlag(arguments, "--kill"));
    return print(stopRun(Folders::fromEnvironment(), arguments[0], kill));
}

Result<void> state(const Arguments& arguments) {
    return print(stateOfRun(Folders::fromEnvironment(), arguments[0]));
}

Result<void> remove(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const bool preview, hasFlag(arguments, "--preview"));
    return print(removeRun(Folders::fromEnvironment(), arguments[0], preview));
}

Result<void> verifyCheckpoint(const Arguments&) {
    const Result<std::string> path = readToEnd(STDIN_FILENO, kMaxOrder, "stdin");
    return path ? print(verifyCheckpointAt(*path)) : tl::unexpected(path.error());
}

/// A process that moves a checkpoint or looks at the machine has time, and the ranks have not.
void yieldToRanks() {
    (void)!::nice(10);
}

Result<void> sendCheckpointAt(const Arguments&) {
    yieldToRanks();
    const Result<std::string> path = readToEnd(STDIN_FILENO, kMaxOrder, "stdin");
    return path ? sendCheckpoint(*path, STDOUT_FILENO) : tl::unexpected(path.error());
}

Result<void> newestCheckpoint(const Arguments& arguments) {
    if (!arguments.empty() && arguments[0] != "--must-exist")
        return fail(ErrorCode::kInvalid,
                    "'" + arguments[0] + "': only --must-exist may stand here");
    return print(newestCheckpointAt(".", !arguments.empty()));
}

Result<void> fetchCheckpointHere(const Arguments& arguments) {
    RM_ASSIGN_OR_RETURN(const int node, nodeIndex(arguments));
    RM_ASSIGN_OR_RETURN(const std::string order, readToEnd(STDIN_FILENO, kMaxOrder, "stdin"));
    yieldToRanks();
    return print(fetchCheckpoint(Folders::fromEnvironment(), arguments[0], node, order));
}

Result<void> receiveCheckpointHere(const Arguments&) {
    yieldToRanks();
    return receiveCheckpoint(Folders::fromEnvironment(), STDIN_FILENO, STDOUT_FILENO);
}

Result<void> compare(const Arguments&) {
    const Result<std::string> order = readToEnd(STDIN_FILENO, kMaxOrder, "stdin");
    return order ? print(compareCheckpoints(*order)) : tl::unexpected(order.error());
}

Result<void> pin(const Arguments& arguments) {
    if (!arguments.empty() && arguments[0] != "--off")
        return fail(ErrorCode::kInvalid, "'" + arguments[0] + "': only --off may stand here");
    const Result<std::string> path = readToEnd(STDIN_FILENO, kMaxOrder, "stdin");
    return path ? print(pinCheckpoint(*path, arguments.empty())) : tl::unexpected(path.error());
}

Result<void> bringBackCheckpointHere(const Arguments& arguments) {
    return print(bringBackCheckpoint(Folders::fromEnvironment(), arguments[0], arguments[1]));
}

Result<void> removeCheckpoint(const Arguments& arguments) {
    return print(removeRetiredCheckpoint(Folders::fromEnvironment(), arguments[0], arguments[1]));
}

// The value behind `name`, within bounds.
Result<int> option(const Arguments& arguments, size_t at, const std::string& name, int least,
                   int most) {
    const bool isNamed = arguments.size() > at + 1 && arguments[at] == name;
    return number(isNamed ? arguments[at + 1] : "", name, least, most);
}

Result<void> prune(const Arguments& arguments) {
    PruneOrder order;
    for (size_t at = 0; at < arguments.size(); ++at) {
        const std::string& name = arguments[at];
        const std::string value = at + 1 < arguments.size() ? arguments[at + 1] : "";
        if (name == "--preview") {
            order.preview = true;
            continue;
        }
        if (name == "--keep" && isSha256(value)) {
            order.current.insert(value);
        } else if (name == "--agent" && isBeginOfSha256(value)) {
            order.agents.push_back(value);
        } else if (name == "--older-than") {
            RM_ASSIGN_OR_RETURN(order.youngSeconds, option(arguments, at, name, 0, 1 << 30));
        } else {
            return fail(ErrorCode::kInvalid, "prune: '" + name + "' is not understood");
        }
        ++at;
    }
    RM_ASSIGN_OR_RETURN(const auto report, pruneDeployed(Folders::fromEnvironment(), order));
    return print(toJson(report) + "\n");
}

Result<void> uninstallHere(const Arguments& arguments) {
    UninstallOrder order;
    for (const std::string& name : arguments) {
        if (name != "--preview" && name != "--runs")
            return fail(ErrorCode::kInvalid, "uninstall: '" + name + "' is not understood");
        (name == "--runs" ? order.withRuns : order.preview) = true;
    }
    RM_ASSIGN_OR_RETURN(const auto report, uninstall(Folders::fromEnvironment(), order));
    return print(toJson(report) + "\n");
}

Result<void> listen(const Arguments& arguments) {
    ListenOrder order;
    int seconds = 0;
    for (size_t at = 0; at < arguments.size(); ++at) {
        const std::string& name = arguments[at];
        if (name == "--next" || name == "--or-any") {
            (name == "--next" ? order.next : order.orAny) = true;
            continue;
        }
        if (name == "--seconds") {
            RM_ASSIGN_OR_RETURN(seconds, option(arguments, at, name, 1, 3600));
        } else if (name == "--port") {
            RM_ASSIGN_OR_RETURN(order.port, option(arguments, at, name, 1, 65535));
        } else if (name == "--samples") {
            RM_ASSIGN_OR_RETURN(order.samples, option(arguments, at, name, 0, kMostSamples));
        } else {
            return fail(ErrorCode::kInvalid, "listen: '" + name + "' is not understood");
        }
        ++at;
    }
    if (seconds == 0)
        return fail(ErrorCode::kInvalid, "listen: --seconds is missing");
    return listenForDials(order, seconds, STDIN_FILENO, STDOUT_FILENO);
}

Result<void> dial(const Arguments&) {
    return readToEnd(STDIN_FILENO, kMaxOrder, "stdin")
        .and_then(parseDialOrder)
        .and_then([](const DialOrder& order) { return dialAll(order); })
        .and_then(
            [](const std::vector<DialAnswer>& answers) { return print(toJson(answers) + "\n"); });
}

Result<void> machine(const Arguments&) {
    yieldToRanks();
    const auto gpus = openNvmlGpus();
    MachineSampler sampler(SysRoot{}, *gpus, Folders::fromEnvironment());
    return streamMachine(sampler, STDIN_FILENO, STDOUT_FILENO);
}

struct Subcommand {
    size_t least, most; ///< arguments
    const char* usage;
    Result<void> (*run)(const Arguments&);
};

const std::map<std::string, Subcommand>& subcommands() {
    static const std::map<std::string, Subcommand> table = {
        {"--version", {0, 0, "--version", version}},
        {"ask", {0, 0, "ask < [[\"QUESTION\", \"INPUT\"], ...]", ask}},
        {"start", {1, 1, "start RUN_ID < {\"spec\", \"plan\"}", start}},
        {"trainer", {1, 64, "trainer WORD... < {\"plan\", \"input\"}", trainer}},
        {"slurm-info", {0, 0, "slurm-info", slurmInfoHere}},
        {"submit", {1, 1, "submit RUN_ID < {\"script\", \"parts\"}", submit}},
        {"job-state", {1, 1, "job-state RUN_ID", jobState}},
        {"in-job", {1, 1, "in-job RUN_ID", inJob}},
        {"attach", {2, 2, "attach RUN_ID NODE", attach}},
        {"adopt", {2, 2, "adopt RUN_ID NODE", adopt}},
        {"receive", {0, 0, "receive", receive}},
        {"stack", {1, 1, "stack PID", stack}},
        {"stop", {1, 2, "stop RUN_ID [--kill]", stop}},
        {"state", {1, 1, "state RUN_ID", state}},
        {"remove", {1, 2, "remove RUN_ID [--preview]", remove}},
        {"prune",
         {0, 256, "prune [--preview] [--older-than SECONDS] [--keep NAME]... [--agent ID]...",
          prune}},
        {"uninstall", {0, 2, "uninstall [--preview] [--runs]", uninstallHere}},
        {"send-checkpoint", {0, 0, "send-checkpoint < PATH", sendCheckpointAt}},
        {"newest-checkpoint", {0, 1, "newest-checkpoint [--must-exist]", newestCheckpoint}},
        {"fetch-checkpoint",
         {2, 2, "fetch-checkpoint RUN_ID NODE < {\"path\", \"attempt\", \"step\"}",
          fetchCheckpointHere}},
        {"receive-checkpoint", {0, 0, "receive-checkpoint", receiveCheckpointHere}},
        {"verify-checkpoint", {0, 0, "verify-checkpoint < PATH", verifyCheckpoint}},
        {"compare-checkpoints", {0, 0, "compare-checkpoints < {\"a\", \"b\"}", compare}},
        {"pin-checkpoint", {0, 1, "pin-checkpoint [--off] < PATH", pin}},
        {"bring-back-checkpoint",
         {2, 2, "bring-back-checkpoint RUN_ID NAME", bringBackCheckpointHere}},
        {"remove-checkpoint", {2, 2, "remove-checkpoint RUN_ID NAME", removeCheckpoint}},
        {"listen",
         {2, 8, "listen --seconds N [--port P [--or-any]] [--next] [--samples N]", listen}},
        {"machine", {0, 0, "machine < INTERVAL_MS...", machine}},
        {"dial", {0, 0, "dial < {\"targets\", \"settle_ms\"}", dial}},
    };
    return table;
}

std::string usage() {
    std::string text = "usage: ringmaster-agent";
    for (const auto& [name, subcommand] : subcommands())
        text += std::string(name == subcommands().begin()->first ? " " : " | ") + subcommand.usage;
    for (const auto& [name, question] : questions())
        text += std::string(" | ") + question.usage;
    return text;
}

Result<void> answerAlone(const Question& question) {
    if (!question.hasInput)
        return print(question.answer({}));
    RM_ASSIGN_OR_RETURN(const std::string input, readToEnd(STDIN_FILENO, kMaxOrder, "stdin"));
    return print(question.answer(input));
}

} // namespace

Result<void> runSubcommand(const Arguments& arguments) {
    ::signal(SIGPIPE, SIG_IGN); // a broken link is then an ordinary error
    const std::string name = arguments.empty() ? std::string() : arguments[0];
    if (const auto question = questions().find(name); question != questions().end())
        return arguments.size() == 1
                   ? answerAlone(question->second)
                   : fail(ErrorCode::kInvalid,
                          std::string("usage: ringmaster-agent ") + question->second.usage);
    const auto subcommand = subcommands().find(name);
    if (subcommand == subcommands().end())
        return fail(ErrorCode::kInvalid, usage());
    const Arguments rest(arguments.begin() + 1, arguments.end());
    if (rest.size() < subcommand->second.least || rest.size() > subcommand->second.most)
        return fail(ErrorCode::kInvalid,
                    std::string("usage: ringmaster-agent ") + subcommand->second.usage);
    return subcommand->second.run(rest);
}

} // namespace rm
