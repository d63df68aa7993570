// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/launch_lines.h"
#include "app/cli/named_nodes.h"
#include "app/cli/terminal.h"
#include "app/core/findings/text.h"
#include "app/core/launch/forecast.h"
#include "app/core/launch/link_test.h"
#include "app/core/launch/recipes.h"
#include "shared/return_if_error.h"

#include <iostream>

namespace rm::cli {

namespace {

struct ForecastOptions {
    std::string spec; ///< path of a .toml, or the name of a recipe
    std::vector<std::string> nodes, overrides;
};

/// Shows how far it is until it is over, and ends it when that is asked for.
Result<QString> awaitTrial(CommandContext& context, const NodeTrial& trial,
                           const Interruption& interruption) {
    return awaitShown(context, trialId(trial), context.engine().ask(TrialRequest{trial}),
                      interruption, [&] { context.engine().ask(StopTrialRequest{trial}); });
}

/// Runs the trial, after its logins were asked for if needed. `part`: the whole that it is a part
/// of, which is what a person cancels; empty: of nothing.
Result<std::string> tryOut(CommandContext& context, const NodeTrial& trial,
                           const Interruption& interruption, const std::string& part = {}) {
    std::vector<std::string> names;
    for (const Placement& placement : trial.nodes)
        names.push_back(placement.node.toStdString());
    auto answer = awaitTrial(context, trial, interruption);
    const bool isDenied = !answer && answer.error().code == ErrorCode::kDenied;
    if (isDenied && !interruption.isRequested() && openAsking(context, names))
        answer = awaitTrial(context, trial, interruption);
    if (!answer && interruption.isRequested())
        return failCancelled(part.empty() ? trialName(trial.kind) : part);
    return answer.map(&QString::toStdString);
}

int printTrialError(const CommandContext& context, const Error& error,
                    const Interruption& interruption) {
    const int code = printError(context, error);
    return interruption.isRequested() ? interruption.exitCode() : code;
}

/// A line for each size; the link is judged in that of the largest.
std::string tableOf(const LinkTest& test, const LinkHistory& history) {
    std::vector<std::vector<std::string>> rows = {{"BETWEEN", "SIZE", "TIME", "RATE", "LINK"}};
    for (const SumGroup& group : test.report.groups) {
        const std::string name = oneLine(groupName(test, group));
        for (const SumWords& size : sumsBySize(group))
            rows.push_back({name, size.size, size.time, size.rate});
        rows.back().push_back(rateWords(test, group, history));
    }
    return formatTable(rows);
}

void printLinkTest(const LinkTest& test, const LinkHistory& history) {
    std::cout << formatAgo(test.wallNs) << ", " << oneLine(test.report.device) << "\n"
              << tableOf(test, history);
    if (!test.report.fault.empty())
        std::cout << "The devices' own collectives are off: " << oneLine(test.report.fault) << "\n";
    std::cout << std::flush;
}

nlohmann::ordered_json jsonOf(const LinkTest& test, const LinkHistory& history) {
    auto json = nlohmann::ordered_json::parse(toJson(test));
    size_t i = 0;
    for (auto& group : json["report"]["groups"]) {
        const SumGroup& of = test.report.groups[i++];
        group["latency_ms"] = latencyOf(of) * 1e3;
        group["bits_per_second"] = nullptr;
        if (hasRate(of))
            group["bits_per_second"] = busBandwidthOf(of) * 8;
        group["words"] = rateWords(test, of, history);
        size_t size = 0;
        for (auto& time : group["times"])
            time["bits_per_second"] = busBandwidthOf(of, of.times[size++]) * 8;
    }
    return json;
}

std::vector<LinkTest> keptTests(const CommandContext& context) {
    return keptLinkTests((context.paths().state + '/' + kLinkTestsFile).toStdString());
}

int printHistory(const CommandContext& context) {
    const auto tests = keptTests(context);
    const LinkHistory history(tests);
    auto out = nlohmann::ordered_json::array();
    for (const LinkTest& test : tests)
        if (context.json())
            out.push_back(jsonOf(test, history));
        else
            printLinkTest(test, history);
    if (context.json())
        printJson(out);
    else if (tests.empty())
        std::cout << "no all-reduce test was made yet" << std::endl;
    return 0;
}

Result<LinkTest> testLinks(CommandContext& context, const NodeTrial& trial,
                           const Interruption& interruption, const std::string& part = {}) {
    RM_ASSIGN_OR_RETURN(const auto answer, tryOut(context, trial, interruption, part));
    return parseLinkTest(answer, "the all-reduce test");
}

Result<std::vector<SelfTest>> selfTestsFrom(const std::string& json) {
    RM_ASSIGN_OR_RETURN(const auto report, parseNodeReport(json)); // has the same key
    return report.selfTests;
}

void print(const SelfTest& test) {
    std::cout << oneLine(test.device) << (test.driver.empty() ? "" : ", driver ")
              << oneLine(test.driver) << ", " << oneLine(test.runtime) << "\n";
    for (const SelfTestProof& proof : test.proofs)
        std::cout << "  " << (proof.held ? "ok  " : "BAD ") << "  " << oneLine(proof.name) << ": "
                  << oneLine(proof.evidence) << "\n";
    std::cout << std::flush;
}

struct ForecastParts {
    StepProfile profile;
    LinkTest test;
};

Result<ForecastParts> measureForecast(CommandContext& context, const CheckedSpec& spec,
                                      const std::vector<Placement>& nodes,
                                      const Interruption& interruption) {
    if (nodes.size() < 2)
        return fail(ErrorCode::kInvalid,
                    "forecast: name the nodes with --node, two or more, the first of which is "
                    "measured alone, too");
    const std::string whole = "forecast"; // of both
    RM_ASSIGN_OR_RETURN(const auto answer,
                        tryOut(context, stepProfileTrial(*spec, nodes), interruption, whole));
    RM_ASSIGN_OR_RETURN(auto profile, parseStepProfile(answer, "the step profile"));
    RM_ASSIGN_OR_RETURN(auto test,
                        testLinks(context, linkTrial(*spec, nodes), interruption, whole));
    return ForecastParts{std::move(profile), std::move(test)};
}

nlohmann::ordered_json jsonOf(const ForecastParts& parts,
                              const std::vector<StepForecast>& forecasts,
                              const std::vector<std::string>& words, const LinkHistory& history) {
    auto steps = nlohmann::ordered_json::array();
    for (size_t i = 0; i < forecasts.size(); ++i)
        steps.push_back({{"nodes", forecasts[i].nodes},
                         {"ranks", forecasts[i].ranks},
                         {"accumulation", forecasts[i].accumulation},
                         {"step_ms", forecasts[i].stepMs},
                         {"wait_ms", forecasts[i].waitMs},
                         {"samples_per_second", forecasts[i].samplesPerSec},
                         {"speed_up", speedUp(forecasts, i)}});
    return {{"forecasts", steps},
            {"words", words},
            {"profile", nlohmann::ordered_json::parse(toJson(parts.profile))},
            {"links", jsonOf(parts.test, history)}};
}

std::string tableOf(const std::vector<StepForecast>& forecasts) {
    std::vector<std::vector<std::string>> rows = {
        {"NODES", "RANKS", "STEP", "WAITS", "SAMPLES/S", "SPEED-UP"}};
    for (size_t i = 0; i < forecasts.size(); ++i)
        rows.push_back(
            {std::to_string(forecasts[i].nodes), std::to_string(forecasts[i].ranks),
             formatNumber(forecasts[i].stepMs) + " ms", formatNumber(forecasts[i].waitMs) + " ms",
             formatNumber(forecasts[i].samplesPerSec), formatNumber(speedUp(forecasts, i))});
    return formatTable(rows);
}

int runNodesSelfTest(CommandContext& context, const std::string& name) {
    const Interruption interruption;
    const auto answer = tryOut(
        context, {TrialKind::kSelfTest, {{QString::fromStdString(name), 0}}, {}}, interruption);
    const auto tests = answer ? selfTestsFrom(*answer) : tl::unexpected(answer.error());
    if (!tests)
        return printTrialError(context, tests.error(), interruption);
    if (context.json())
        printJson(nlohmann::ordered_json::parse(*answer));
    bool held = true;
    for (const SelfTest& test : *tests) {
        if (!context.json())
            print(test);
        for (const SelfTestProof& proof : test.proofs)
            held = held && proof.held;
    }
    return static_cast<int>(held ? ExitCode::kOk : ExitCode::kFailed);
}

int runNodesAllReduce(CommandContext& context, const std::vector<std::string>& names,
                      bool history) {
    if (history)
        return printHistory(context);
    const auto nodes = namedPlacements(context.fleet().nodes(), names);
    const Interruption interruption;
    const auto test = nodes ? testLinks(context, {TrialKind::kAllReduce, *nodes, {}}, interruption)
                            : tl::unexpected(nodes.error());
    if (!test)
        return printTrialError(context, test.error(), interruption);
    const LinkHistory kept(keptTests(context));
    if (context.json())
        printJson(jsonOf(*test, kept));
    else
        printLinkTest(*test, kept);
    return 0;
}

int runForecast(CommandContext& context, const ForecastOptions& options) {
    const auto spec = loadSpecOrRecipe(options.spec, options.overrides);
    if (!spec)
        return printError(context, spec.error());
    const auto nodes = namedPlacements(context.fleet().nodes(), options.nodes);
    if (!nodes)
        return printError(context, nodes.error());
    const Interruption interruption;
    const auto parts = measureForecast(context, *spec, *nodes, interruption);
    if (!parts)
        return printTrialError(context, parts.error(), interruption);
    const auto forecasts = forecastNodes(parts->profile, **spec, parts->test);
    const auto words = forecastWords(parts->profile, **spec, parts->test);
    if (context.json()) {
        printJson(jsonOf(*parts, forecasts, words, LinkHistory(keptTests(context))));
        return 0;
    }
    if (!forecasts.empty())
        std::cout << tableOf(forecasts);
    for (const std::string& sentence : words)
        std::cout << sentence << "\n";
    std::cout << std::flush;
    return 0;
}

} // namespace

void addTrials(CommandLine& line, CLI::App& nodes) {
    auto& tested = line.keep<std::string>();
    auto* selfTest = line.add(
        nodes, "self-test", "Let a machine compare what its devices compute with what is right",
        [&tested](CommandContext& context) { return runNodesSelfTest(context, tested); });
    selfTest->add_option("NAME", tested, "Which")->required();

    struct Links {
        std::vector<std::string> names;
        bool history = false;
    };
    auto& o = line.keep<Links>();
    auto* links = line.add(
        nodes, "all-reduce",
        "Measure how fast gradients are summed between machines, in about 10 s",
        [&o](CommandContext& context) { return runNodesAllReduce(context, o.names, o.history); });
    auto* which =
        links->add_option("NAME", o.names, "NAME[:RANKS] or @GROUP[:RANKS], two nodes or more");
    links->add_flag("--history", o.history, "Only show the earlier measurements")->excludes(which);
}

void addForecast(CommandLine& line) {
    auto& o = line.keep<ForecastOptions>();
    auto* forecast = line.add("forecast",
                              "Measure a step on one node and the links to others, and say what a "
                              "step would take on all of them",
                              [&o](CommandContext& context) { return runForecast(context, o); });
    line.needNodes(*forecast);
    forecast->add_option("SPEC", o.spec, "A run spec (.toml) or the name of a recipe")->required();
    forecast
        ->add_option("--node", o.nodes,
                     "NAME[:RANKS] or @GROUP[:RANKS], once per node, two nodes or more")
        ->required()
        ->allow_extra_args(false);
    forecast->add_option("--set", o.overrides, "section.key=value, overrides the spec")
        ->allow_extra_args(false);
}

} // namespace rm::cli
