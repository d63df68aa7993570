// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/agent/agent_client.h"

#include "app/core/findings/text.h"
#include "app/core/remote/back_off.h"
#include "app/core/remote/error_tail.h"
#include "app/core/remote/process_reader.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <limits>
#include <utility>

namespace rm {

namespace {

using nlohmann::json;
using namespace std::chrono_literals;

constexpr auto kSubcommandTimeout = 30s;
constexpr auto kFurtherTimeout = 5s; ///< for each of several questions
constexpr auto kStartTimeout = 120s; ///< a changed bundle is read, an earlier attempt ended
constexpr auto kStopTimeout = 60s;
constexpr auto kBetweenAnswers = 700ms; ///< see askOfRun()
constexpr auto kRemoveTimeout = 10min;  ///< of many files on a slow disk
constexpr auto kVerifyTimeout = 2h;     ///< of a large model on a slow disk
constexpr const char* kListenSeconds = "30";

/// The name of what a subcommand printed, in errors.
std::string answerTo(const std::string& command) {
    return say("agent.answer", {{"command", command}});
}

Result<json> parseAnswer(const std::string& text, const std::string& command) {
    return parseJson(text, answerTo(command));
}

std::string whyUnreadable(const json& j) {
    const std::string kind = j.value("kind", ""), error = j.value("error", "");
    if (kind == "missing")
        return say("agent.missing");
    if (kind == "denied")
        return say("agent.denied", {{"error", error}});
    if (kind == "empty")
        return say("agent.empty");
    return kind == "other" ? say("agent.other") : std::string();
}

} // namespace

Result<NodeReport> probeNode(HostSession& session, const std::string& agent, std::stop_token stop) {
    return runToEnd(session, agent, {"probe"}, "", kSubcommandTimeout, stop)
        .and_then(parseNodeReport);
}

Result<std::vector<UnreadablePath>> parseUnreadablePaths(const std::string& text) {
    RM_ASSIGN_OR_RETURN(const auto answer, parseAnswer(text, "paths"));
    std::vector<UnreadablePath> out;
    try {
        for (const json& item : answer)
            if (std::string why = whyUnreadable(item); !why.empty())
                out.push_back({item.value("path", ""), std::move(why)});
    } catch (const json::exception& e) {
        return failAs("paths", {ErrorCode::kCorrupt, e.what()});
    }
    return out;
}

Result<FolderOnNode> parseFolderOnNode(const std::string& text) {
    RM_ASSIGN_OR_RETURN(const auto answer, parseAnswer(text, "folder"));
    const auto folder = textAt(answer, "folder"), problem = textAt(answer, "problem");
    const auto freeBytes = intAt(answer, "free_bytes"), device = intAt(answer, "device");
    const auto hasMark = boolAt(answer, "mark");
    if (!folder || !problem || !freeBytes || !device || !hasMark)
        return fail(ErrorCode::kCorrupt, say("agent.no-folder"));
    return FolderOnNode{*folder, *freeBytes, *device, *problem, *hasMark};
}

Result<DataFingerprint> parseDataFingerprint(const std::string& text) {
    RM_ASSIGN_OR_RETURN(const auto answer, parseAnswer(text, "fingerprint"));
    const auto files = intAt(answer, "files"), bytes = intAt(answer, "bytes");
    const auto digest = textAt(answer, "digest");
    const auto isWhole = boolAt(answer, "whole");
    if (!files || !bytes || !digest || !isWhole)
        return fail(ErrorCode::kCorrupt, say("agent.no-fingerprint"));
    return DataFingerprint{*files, *bytes, *digest, *isWhole};
}

namespace {

const char* wordOf(MarkOrder order) {
    switch (order) {
    case MarkOrder::kLeave:
        return "leave";
    case MarkOrder::kTake:
        return "take";
    case MarkOrder::kLook:
        break;
    }
    return "look";
}

Result<std::vector<SavedRun>> parseSavedRunsAnswer(const std::string& text) {
    return parseSavedRuns(text, "saved-runs");
}

std::string savedRunsOrder(const std::string& folder, const std::string& name) {
    return dumpJson({{"folder", folder}, {"name", name}});
}

Error readFolderError(const Error& error) {
    return failAs(say("agent.read-folder"), error).value();
}

Result<std::string> parseAnswerOfOne(const Json& item) {
    if (const auto answer = textAt(item, "answer"))
        return *answer;
    const auto exit = intAt(item, "exit");
    const auto why = textAt(item, "error");
    if (!exit || !why || !std::in_range<int>(*exit))
        return fail(ErrorCode::kCorrupt, say("agent.no-answers"));
    return fail(codeOfExit(static_cast<int>(*exit)), *why);
}

} // namespace

Result<std::vector<Result<std::string>>> parseAnswers(const std::string& text, size_t questions) {
    RM_ASSIGN_OR_RETURN(const auto list, parseAnswer(text, "ask"));
    if (!list.is_array() || list.size() != questions)
        return fail(ErrorCode::kCorrupt, say("agent.no-answers"));
    std::vector<Result<std::string>> answers;
    for (const Json& item : list)
        answers.push_back(parseAnswerOfOne(item));
    return answers;
}

template <class T>
void AgentQuestions::add(const std::string& name, std::string input,
                         Result<T> (*parse)(const std::string&), Result<T>& answer) {
    const auto take = [parse, &answer](const Result<std::string>& text) {
        answer = text.and_then(parse);
    };
    m_questions.push_back({name, std::move(input), take});
    m_further += kFurtherTimeout;
}

void AgentQuestions::probe(Result<NodeReport>& answer) {
    add<NodeReport>("probe", "", &parseNodeReport, answer);
}

void AgentQuestions::unreadable(const std::vector<std::string>& paths,
                                Result<std::vector<UnreadablePath>>& answer) {
    add<std::vector<UnreadablePath>>("paths", dumpJson(paths), &parseUnreadablePaths, answer);
}

void AgentQuestions::savedRuns(const std::string& folder, const std::string& name,
                               Result<std::vector<SavedRun>>& answer) {
    const auto take = [&answer](const Result<std::string>& text) {
        answer = text.and_then(&parseSavedRunsAnswer).map_error(&readFolderError);
    };
    m_questions.push_back({"saved-runs", savedRunsOrder(folder, name), take});
    m_further += kFurtherTimeout;
}

void AgentQuestions::folder(const FolderQuestion& question, Result<FolderOnNode>& answer) {
    const Json text = {
        {"path", question.path}, {"mark", question.mark}, {"do", wordOf(question.order)}};
    add<FolderOnNode>("folder", dumpJson(text), &parseFolderOnNode, answer);
}

void AgentQuestions::fingerprint(const std::vector<std::string>& paths, bool arePictures,
                                 std::chrono::seconds limit, Result<DataFingerprint>& answer) {
    m_further += limit;
    const Json order = {{"paths", paths}, {"pictures", arePictures}, {"seconds", limit.count()}};
    add<DataFingerprint>("fingerprint", dumpJson(order), &parseDataFingerprint, answer);
}

Result<void> AgentQuestions::ask(HostSession& session, const std::string& agent,
                                 std::stop_token stop) const {
    Json items = Json::array();
    for (const Question& each : m_questions)
        items.push_back(Json::array({each.name, each.input}));
    RM_ASSIGN_OR_RETURN(const auto text, runToEnd(session, agent, {"ask"}, dumpJson(items),
                                                  kSubcommandTimeout + m_further, std::move(stop)));
    RM_ASSIGN_OR_RETURN(const auto answers, parseAnswers(text, m_questions.size()));
    for (size_t i = 0; i < answers.size(); ++i)
        m_questions[i].answer(answers[i]);
    return {};
}

Result<void> startOnNode(HostSession& session, const std::string& agent,
                         const std::string& specToml, const NodePlan& plan, std::stop_token stop) {
    const json request = {{"spec", specToml}, {"plan", toToml(plan)}};
    // A path that a node reported need not be UTF-8; the agent then says which file is missing.
    const std::string text = request.dump(-1, ' ', false, json::error_handler_t::replace);
    return runToEnd(session, agent, {"start", plan.runId}, text, kStartTimeout, stop)
        .map([](const std::string&) {});
}

Result<SlurmReport> slurmOnNode(HostSession& session, const std::string& agent,
                                std::stop_token stop) {
    return runToEnd(session, agent, {"slurm-info"}, "", kSubcommandTimeout, stop)
        .and_then(parseSlurmReport);
}

Result<std::string> submitOnNode(HostSession& session, const std::string& agent,
                                 const std::string& specToml, const std::vector<NodePlan>& plans,
                                 const std::string& script, std::stop_token stop) {
    json parts = json::array();
    for (const NodePlan& plan : plans)
        parts.push_back({{"spec", specToml}, {"plan", toToml(plan)}});
    const std::string text = json{{"script", script}, {"parts", parts}}.dump(
        -1, ' ', false, json::error_handler_t::replace);
    RM_ASSIGN_OR_RETURN(
        const auto printed,
        runToEnd(session, agent, {"submit", plans.front().runId}, text, kStartTimeout, stop));
    RM_ASSIGN_OR_RETURN(const auto answer, parseAnswer(printed, "submit"));
    const auto job = textAt(answer, "job");
    return job ? Result<std::string>(*job) : fail(ErrorCode::kCorrupt, say("agent.no-job"));
}

namespace {

/// The answer to a question about a run; nullopt: nothing of it is there. That is believed once it
/// was said twice, as a folder may be away for a moment while an automounter or a file server
/// brings it back, and what lives of the run lives on.
Result<std::optional<json>> askOfRun(HostSession& session, const std::string& agent,
                                     const std::vector<std::string>& arguments,
                                     std::chrono::milliseconds timeout,
                                     const std::stop_token& stop) {
    const auto ask = [&] { return runToEnd(session, agent, arguments, "", timeout, stop); };
    const auto isNowhere = [](const Result<std::string>& text) {
        return !text && text.error().code == ErrorCode::kNotFound;
    };
    auto text = ask();
    if (isNowhere(text)) {
        waitUnlessStopped(stop, kBetweenAnswers);
        text = ask();
    }
    if (isNowhere(text))
        return std::nullopt;
    if (!text)
        return tl::unexpected(text.error());
    return parseAnswer(*text, arguments.front());
}

} // namespace

Result<RunOnNode> runOnNode(HostSession& session, const std::string& agent,
                            const std::string& runId, std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(const auto found,
                        askOfRun(session, agent, {"state", runId}, kSubcommandTimeout, stop));
    if (!found)
        return RunOnNode();
    const json& answer = *found;
    try {
        return RunOnNode{answer.at("attempt").get<int>(), answer.at("alive").get<bool>()};
    } catch (const json::exception& e) {
        return failAs("state", {ErrorCode::kCorrupt, e.what()});
    }
}

Result<bool> stopOnNode(HostSession& session, const std::string& agent, const std::string& runId,
                        std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(const auto answer,
                        askOfRun(session, agent, {"stop", runId, "--kill"}, kStopTimeout, stop));
    return answer && textAt(*answer, "state") == "stopped";
}

Result<void> removeCheckpointOnNode(HostSession& session, const std::string& agent,
                                    const std::string& runId, const std::string& name,
                                    std::stop_token stop) {
    return runToEnd(session, agent, {"remove-checkpoint", runId, name}, "", kStopTimeout, stop)
        .map([](const std::string&) {});
}

Result<void> pinCheckpointOnNode(HostSession& session, const std::string& agent,
                                 const std::string& path, bool pinned, std::stop_token stop) {
    std::vector<std::string> arguments = {"pin-checkpoint"};
    if (!pinned)
        arguments.emplace_back("--off");
    return runToEnd(session, agent, arguments, path, kSubcommandTimeout, stop)
        .map([](const std::string&) {});
}

Result<void> bringBackCheckpointOnNode(HostSession& session, const std::string& agent,
                                       const std::string& runId, const std::string& name,
                                       std::stop_token stop) {
    return runToEnd(session, agent, {"bring-back-checkpoint", runId, name}, "", kSubcommandTimeout,
                    stop)
        .map([](const std::string&) {});
}

Result<TensorComparison> compareCheckpointsOnNode(HostSession& session, const std::string& agent,
                                                  const std::string& a, const std::string& b,
                                                  std::stop_token stop) {
    const std::string order =
        json{{"a", a}, {"b", b}}.dump(-1, ' ', false, json::error_handler_t::replace);
    return runToEnd(session, agent, {"compare-checkpoints"}, order, kVerifyTimeout, stop)
        .and_then([](const std::string& text) {
            return parseComparison(text, answerTo("compare-checkpoints"));
        });
}

namespace {

CheckpointFolder folderOf(const json& answer) {
    return checkpointFolderNamed(textAt(answer, "folder").value_or(""));
}

} // namespace

Result<void> verifyCheckpointOnNode(HostSession& session, const std::string& agent,
                                    const std::string& path, bool isCopy, std::stop_token stop) {
    auto text = runToEnd(session, agent, {"verify-checkpoint"}, path, kVerifyTimeout, stop);
    // kCorrupt is said of the checkpoint alone, not of what the login shell printed.
    if (!text && text.error().code == ErrorCode::kCorrupt)
        return fail(ErrorCode::kInternal, text.error().message);
    return text.and_then([&](const std::string& verdict) { return parseVerdict(verdict, isCopy); });
}

bool isAway(CheckpointFolder folder, bool hasCopies) {
    return folder == CheckpointFolder::kMissing ||
           (folder == CheckpointFolder::kForeign && !hasCopies);
}

Result<void> parseVerdict(const std::string& text, bool isCopy) {
    // Not kCorrupt, which is said of the checkpoint.
    const auto answer = parseAnswer(text, "verify-checkpoint");
    const auto isWhole = answer ? boolAt(*answer, "whole") : std::nullopt;
    const auto problem = answer ? textAt(*answer, "problem") : std::nullopt;
    if (!isWhole || !problem)
        return fail(ErrorCode::kInternal, say("agent.no-verdict"));
    const bool isThere = boolAt(*answer, "there").value_or(true);
    if (!isThere && isAway(folderOf(*answer), isCopy))
        return fail(ErrorCode::kUnavailable, say("checkpoint.folder-away-as", {{"why", *problem}}));
    return *isWhole ? Result<void>()
                    : fail(isThere ? ErrorCode::kCorrupt : ErrorCode::kNotFound, *problem);
}

Result<CheckpointAnswer> parseCheckpointThere(const std::string& text) {
    RM_ASSIGN_OR_RETURN(const auto answer, parseAnswer(text, "find-checkpoint"));
    const auto isThere = boolAt(answer, "there");
    if (isThere && !*isThere)
        return CheckpointAnswer{std::nullopt, folderOf(answer)};
    const auto runId = textAt(answer, "run_id");
    const auto attempt = intAt(answer, "attempt"), step = intAt(answer, "step"),
               bytes = intAt(answer, "bytes");
    if (!isThere || !runId || !attempt || !step || !bytes)
        return fail(ErrorCode::kCorrupt, say("agent.no-checkpoint"));
    return CheckpointAnswer{CheckpointThere{
        *runId, *attempt, *step, *bytes, boolAt(answer, "copy").value_or(false),
        intAt(answer, "ranks").value_or(0), intAt(answer, "positions_per_step").value_or(0)}};
}

Result<CheckpointAnswer> findCheckpointOnNode(HostSession& session, const std::string& agent,
                                              const std::string& path, std::stop_token stop) {
    return runToEnd(session, agent, {"find-checkpoint"}, path, kSubcommandTimeout, stop)
        .and_then(parseCheckpointThere);
}

Result<std::vector<SavedRun>> savedRunsOnNode(HostSession& session, const std::string& agent,
                                              const std::string& folder, const std::string& name,
                                              std::stop_token stop) {
    return runToEnd(session, agent, {"saved-runs"}, savedRunsOrder(folder, name),
                    kSubcommandTimeout, stop)
        .and_then(&parseSavedRunsAnswer)
        .map_error(&readFolderError);
}

namespace {

Result<NamedFolder> namedFolderFrom(const json& named) {
    const auto path = textAt(named, "folder"), staysAs = textAt(named, "stays_as");
    const auto bytes = intAt(named, "bytes"), checkpoints = intAt(named, "checkpoints");
    if (!path || !staysAs || !bytes || !checkpoints || *bytes < 0 ||
        !std::in_range<int>(*checkpoints))
        return fail(ErrorCode::kCorrupt, say("agent.odd-named-folder"));
    return NamedFolder{*path, *bytes, static_cast<int>(*checkpoints), *staysAs};
}

} // namespace

Result<RunFolder> parseRunFolder(const std::string& text) {
    RM_ASSIGN_OR_RETURN(const auto answer, parseAnswer(text, "remove"));
    const auto path = textAt(answer, "folder");
    const auto bytes = intAt(answer, "bytes"), checkpoints = intAt(answer, "checkpoints");
    if (!path || !bytes || !checkpoints || *bytes < 0 || !std::in_range<int>(*checkpoints))
        return fail(ErrorCode::kCorrupt, say("agent.no-run-folder"));
    RunFolder folder{{},     *path,
                     *bytes, static_cast<int>(*checkpoints),
                     {},     textAt(answer, "state_id").value_or("")};
    const json* all = arrayAt(answer, "named"); // earlier agents list none
    for (const json& each : all ? *all : json::array()) {
        RM_ASSIGN_OR_RETURN(NamedFolder named, namedFolderFrom(each));
        folder.named.push_back(std::move(named));
    }
    return folder;
}

Result<RunFolder> runFolderOnNode(HostSession& session, const std::string& agent,
                                  const std::string& runId, FolderOrder order,
                                  std::stop_token stop) {
    std::vector<std::string> arguments = {"remove", runId};
    if (order == FolderOrder::kPreview)
        arguments.emplace_back("--preview");
    return runToEnd(session, agent, arguments, "", kRemoveTimeout, stop).and_then(parseRunFolder);
}

Result<DeployedReport> cleanOnNode(HostSession& session, const std::string& agent,
                                   const NodeCleaning& cleaning,
                                   const std::vector<std::string>& keep, std::stop_token stop) {
    std::vector<std::string> arguments = {cleaning.isUninstall ? "uninstall" : "prune"};
    if (cleaning.isPreview)
        arguments.emplace_back("--preview");
    if (cleaning.isUninstall && cleaning.withRuns)
        arguments.emplace_back("--runs");
    if (!cleaning.isUninstall && (cleaning.withRecent || !cleaning.agents.empty()))
        arguments.insert(arguments.end(), {"--older-than", std::to_string(kJustNowSeconds)});
    for (const std::string& begin : cleaning.agents)
        arguments.insert(arguments.end(), {"--agent", begin});
    for (const std::string& name : keep)
        if (!cleaning.isUninstall)
            arguments.insert(arguments.end(), {"--keep", name});
    return runToEnd(session, agent, arguments, "", kRemoveTimeout, stop)
        .and_then([](const std::string& text) { return parseDeployedReport(text); });
}

Result<PortListener> PortListener::open(HostSession& session, const std::string& agent,
                                        const ListenOrder& order, std::stop_token stop,
                                        std::stop_token closing) {
    std::vector<std::string> arguments = {"listen", "--seconds", kListenSeconds};
    if (order.port)
        arguments.insert(arguments.end(), {"--port", std::to_string(order.port)});
    if (order.orAny)
        arguments.emplace_back("--or-any");
    if (order.next)
        arguments.emplace_back("--next");
    if (order.samples)
        arguments.insert(arguments.end(), {"--samples", std::to_string(order.samples)});
    RM_ASSIGN_OR_RETURN(auto process, session.start(agent, arguments, std::move(closing)));
    const std::string attempt = say("agent.open-port", {{"where", session.where()}});
    RM_ASSIGN_OR_RETURN(const auto line,
                        ProcessReader(*process, attempt, stop).line(kSubcommandTimeout));
    auto ports = parseOpenPorts(line);
    if (!ports)
        return failAs(attempt, ports.error());
    PortListener listener;
    listener.m_process = std::move(process);
    listener.m_ports = std::move(*ports);
    return listener;
}

Result<void> PortListener::close() {
    RM_RETURN_IF_ERROR(m_process->closeWrite());
    RM_ASSIGN_OR_RETURN(const int code, m_process->exitCode(5s));
    if (code == 0)
        return {};
    const std::string said = lastLine(m_process->errorText());
    const std::string ended = say("ssh.exit-code", {{"code", std::to_string(code)}});
    return said.empty() ? fail(ErrorCode::kUnavailable, ended)
                        : failAs(ended, {ErrorCode::kUnavailable, said});
}

Result<std::vector<DialAnswer>> dialFromNode(HostSession& session, const std::string& agent,
                                             const DialOrder& order, std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(const auto text, runToEnd(session, agent, {"dial"}, toJson(order),
                                                  kSubcommandTimeout, stop));
    auto answers = parseDialAnswers(text, order.targets.size());
    return answers ? answers
                   : failAs(say("agent.dial", {{"where", session.where()}}), answers.error());
}

} // namespace rm
