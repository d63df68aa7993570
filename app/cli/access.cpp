// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"

#include "app/cli/command_context.h"
#include "app/cli/interruption.h"
#include "app/cli/named_nodes.h"
#include "app/cli/terminal.h"
#include "app/core/await.h"
#include "app/core/findings/text.h"
#include "app/core/store/run_summary.h"

#include <algorithm>
#include <iostream>

namespace rm::cli {

namespace {

using Need = ConnectFailure::Need;

bool trusts(const Node& node, const std::string& fingerprint) {
    return askYesNo("First contact with " + node.name + ": its host key is " + fingerprint +
                    "\nTrust it?");
}

/// Asks for a secret once: false when it was asked for before or nothing was entered.
bool askInto(std::optional<Secret>& secret, const std::string& question) {
    if (secret)
        return false;
    const Secret given = askSecret(question);
    if (given.text().empty())
        return false;
    secret = given;
    return true;
}

/// Asks the person for what the failed connection needs and adds it to `credentials`. False:
/// nothing was added.
bool decide(const Node& node, const ConnectFailure& failure, Credentials& credentials) {
    switch (failure.need) {
    case Need::kTrustHostKey:
        if (credentials.trustedFingerprint || !trusts(node, failure.fingerprint))
            return false;
        credentials.trustedFingerprint = failure.fingerprint;
        return true;
    case Need::kPassword:
        return askInto(credentials.password, "Password for " + node.name);
    case Need::kPassphrase:
        return askInto(credentials.passphrase, "Passphrase of the key for " + node.name);
    case Need::kNothing:
        break;
    }
    return false;
}

} // namespace

std::vector<std::string> nodesOf(const RunSummary& run) {
    std::vector<std::string> names;
    for (const RunNode& node : run.nodes)
        names.push_back(node.nodeName);
    return names;
}

std::string withAdvice(const ConnectFailure& failure, const std::string& node) {
    if (failure.need == Need::kTrustHostKey)
        return failure.error.message + "; compare " + failure.fingerprint +
               " with the machine's own and " +
               (node.empty() ? "pass it as --fingerprint to `nodes add`"
                             : "trust it: ringmaster nodes edit " + node + " --fingerprint " +
                                   failure.fingerprint);
    return failure.error.message;
}

namespace {

NodeCheck checkAsking(CommandContext& context, const Node& node, const std::string& trusted,
                      bool& prompted) {
    Credentials credentials;
    if (!trusted.empty())
        credentials.trustedFingerprint = trusted;
    const QString name = QString::fromStdString(node.name);
    for (;;) {
        NodeCheck check = await(context.fleet().check(name, credentials));
        if (!check.failure) {
            credentials.trustedFingerprint.reset(); // known_hosts has it now
            context.grant(node, credentials);
            return check;
        }
        if (!decide(node, *check.failure, credentials))
            return check;
        prompted = true;
    }
}

} // namespace

NodeCheck checkAsking(CommandContext& context, const Node& node, const std::string& trusted) {
    bool prompted = false;
    return checkAsking(context, node, trusted, prompted);
}

namespace {

/// "3 of 8 nodes have answered; node-a connects, node-b looks"
std::string progressOf(const Fleet& fleet, const std::vector<Node>& nodes,
                       const std::vector<QFuture<NodeCheck>>& checks) {
    constexpr size_t kMostNamed = 4;
    size_t answered = 0;
    std::vector<std::string> waiting;
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (checks[i].isFinished()) {
            ++answered;
            continue;
        }
        const auto stage = fleet.stageOf(QString::fromStdString(nodes[i].name));
        waiting.push_back(nodes[i].name + (stage ? std::string(" ") + stageWord(*stage) : ""));
    }
    return std::to_string(answered) + " of " + std::to_string(nodes.size()) +
           " nodes have answered; " + someOf(waiting, kMostNamed);
}

bool needsAPerson(const NodeCheck& check) {
    return check.failure && check.failure->need != Need::kNothing;
}

} // namespace

tl::expected<std::vector<NodeCheck>, int> checkAllAsking(CommandContext& context,
                                                         const std::vector<Node>& nodes) {
    Fleet& fleet = context.fleet();
    std::vector<QFuture<NodeCheck>> checks;
    for (const Node& node : nodes)
        checks.push_back(fleet.check(QString::fromStdString(node.name)));
    {
        const Interruption interruption;
        StatusLine status;
        awaitUntil([&] {
            if (interruption.isRequested())
                for (const Node& node : nodes)
                    fleet.cancelCheck(QString::fromStdString(node.name));
            const bool areDone = std::ranges::all_of(
                checks, [](const QFuture<NodeCheck>& check) { return check.isFinished(); });
            if (!areDone && nodes.size() > 1)
                status.update(progressOf(fleet, nodes, checks));
            return areDone;
        });
        if (interruption.isRequested()) {
            status.update("");
            printError(context, failCancelled("check of the nodes").value());
            return tl::unexpected(interruption.exitCode());
        }
    }
    std::vector<NodeCheck> answers;
    for (size_t i = 0; i < nodes.size(); ++i) {
        NodeCheck answer = checks[i].result();
        answers.push_back(needsAPerson(answer) ? checkAsking(context, nodes[i], {})
                                               : std::move(answer));
    }
    return answers;
}

bool openAsking(CommandContext& context, const std::vector<std::string>& nodes) {
    bool isAnyOpen = false;
    for (const std::string& name : nodes) {
        const auto node = context.fleet().find(QString::fromStdString(name));
        bool prompted = false;
        if (node && !node->isLocal && !checkAsking(context, *node, {}, prompted).failure)
            isAnyOpen = isAnyOpen || prompted;
    }
    return isAnyOpen;
}

void printRow(const CheckRow& row) {
    const char* mark = row.state == CheckRow::State::kGood      ? "ok  "
                       : row.state == CheckRow::State::kWarning ? "note"
                                                                : "BAD ";
    std::cout << "  " << mark << "  " << oneLine(row.title) << ": " << oneLine(row.evidence)
              << "\n";
    if (!row.cause.empty())
        std::cout << "        " << oneLine(row.cause) << "\n";
    if (!row.fix.empty())
        std::cout << "        -> " << oneLine(row.fix) << "\n";
}

Result<LaunchCheck> checkLaunchAsking(CommandContext& context, const RunSpec& spec,
                                      const std::vector<Placement>& placements) {
    const auto ask = [&] {
        return await(context.engine().ask(CheckLaunchRequest{spec, placements}));
    };
    auto rows = ask();
    if (!rows && rows.error().code == ErrorCode::kDenied &&
        openAsking(context, namesOf(placements)))
        rows = ask();
    return rows.map([](std::vector<CheckRow>& all) {
        const bool isReady = std::ranges::none_of(
            all, [](const CheckRow& row) { return row.state == CheckRow::State::kBad; });
        return LaunchCheck{isReady, std::move(all)};
    });
}

} // namespace rm::cli
