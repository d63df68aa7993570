// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/terminal.h"

#include <QString>

#include <iostream>

namespace rm::cli {

namespace {

/// `node` reached by "[USER@]HOST[:PORT]"; IPv6 addresses stand in brackets.
Result<Node> reachedBy(Node node, std::string rest) {
    node.user.clear();
    node.port = 0;
    if (const size_t at = rest.find('@'); at != std::string::npos) {
        node.user = rest.substr(0, at);
        rest = rest.substr(at + 1);
    }
    const size_t bracket = rest.find(']');
    const size_t colon = rest.find(':', bracket == std::string::npos ? 0 : bracket);
    const bool bareV6 = bracket == std::string::npos && rest.find(':') != rest.rfind(':');
    if (colon != std::string::npos && !bareV6) {
        bool isNumber = false;
        node.port = QString::fromStdString(rest.substr(colon + 1)).toInt(&isNumber);
        if (!isNumber || node.port < 1 || node.port > 65535)
            return fail(ErrorCode::kInvalid, "read the address of " + node.name + ": \"" +
                                                 rest.substr(colon + 1) + "\" is no port");
        rest.resize(colon);
    }
    if (rest.size() > 1 && rest.front() == '[' && rest.back() == ']')
        rest = rest.substr(1, rest.size() - 2);
    node.sshHost = rest;
    return node;
}

void printCheck(const NodeCheck& check) {
    std::cout << oneLine(check.node) << ": " << (check.ready ? "ready" : "not ready") << "\n";
    for (const CheckRow& row : check.rows) {
        const char* mark = row.verdict == CheckRow::Verdict::kGood      ? "ok  "
                           : row.verdict == CheckRow::Verdict::kWarning ? "note"
                                                                        : "BAD ";
        std::cout << "  " << mark << "  " << oneLine(row.title) << ": " << oneLine(row.detail)
                  << "\n";
    }
    std::cout << std::flush;
}

int reportCheck(const CommandContext& context, const NodeCheck& check) {
    if (check.failure)
        return printError(context, {check.failure->error.code, withAdvice(*check.failure)});
    if (context.json())
        printJson(toJson(check));
    else
        printCheck(check);
    return 0;
}

} // namespace

int runNodesAdd(CommandContext& context, const NodeOptions& options) {
    Node wanted;
    wanted.name = options.name;
    wanted.identityFile = options.key;
    const auto node = reachedBy(wanted, options.ssh.empty() ? options.name : options.ssh);
    if (!node)
        return printError(context, node.error());
    if (const auto added = context.fleet().add(*node); !added)
        return printError(context, added.error());
    if (!options.check) {
        if (context.json())
            printJson(toJson(*node));
        return 0;
    }
    const NodeCheck check = checkAsking(context, *node, options.fingerprint);
    if (check.failure) {
        (void)context.fleet().remove(QString::fromStdString(node->name));
        return printError(context, {check.failure->error.code,
                                    withAdvice(*check.failure) +
                                        " (not added; --no-check adds it without connecting)"});
    }
    return reportCheck(context, check);
}

int runNodesEdit(CommandContext& context, const NodeOptions& options) {
    const auto known = context.fleet().find(QString::fromStdString(options.name));
    if (!known)
        return printError(context, {ErrorCode::kNotFound,
                                    "edit node " + options.name + ": it is not in the list"});
    const auto node = options.ssh.empty() ? Result<Node>(*known) : reachedBy(*known, options.ssh);
    if (!node)
        return printError(context, node.error());
    Node wanted = *node;
    if (!options.key.empty())
        wanted.identityFile = options.key;
    if (const auto changed = context.fleet().change(wanted); !changed)
        return printError(context, changed.error());
    if (options.check) {
        NodeCheck check = checkAsking(context, wanted, options.fingerprint);
        if (check.failure)
            check.failure->error.message += " (edited all the same)";
        return reportCheck(context, check);
    }
    if (context.json())
        printJson(toJson(wanted));
    return 0;
}

int runNodesList(CommandContext& context) {
    const auto nodes = context.fleet().nodes();
    if (context.json()) {
        auto out = nlohmann::ordered_json::array();
        for (const Node& node : nodes)
            out.push_back(toJson(node));
        printJson(out);
        return 0;
    }
    std::vector<std::vector<std::string>> rows = {{"NODE", "REACHED BY"}};
    for (const Node& node : nodes) {
        const std::string user = node.user.empty() ? "" : node.user + "@";
        const std::string port = node.port ? ":" + std::to_string(node.port) : "";
        rows.push_back({node.name, node.isLocal ? "no SSH" : "ssh " + user + node.sshHost + port});
    }
    std::cout << formatTable(rows) << std::flush;
    return 0;
}

int runNodesCheck(CommandContext& context, const std::vector<std::string>& names) {
    std::vector<Node> nodes;
    for (const std::string& name : names) {
        const auto node = context.fleet().find(QString::fromStdString(name));
        if (!node)
            return printError(
                context, {ErrorCode::kNotFound, "check node " + name + ": it is not in the list"});
        nodes.push_back(*node);
    }
    if (names.empty())
        nodes = context.fleet().nodes();
    auto out = nlohmann::ordered_json::array();
    int code = 0;
    for (const Node& node : nodes) {
        const NodeCheck check = checkAsking(context, node, {});
        if (!check.ready && code == 0)
            code = static_cast<int>(check.failure ? exitCodeFor(check.failure->error.code)
                                                  : ExitCode::kFailed);
        if (check.failure)
            std::cerr << "ringmaster: " << oneLine(withAdvice(*check.failure)) << std::endl;
        if (context.json())
            out.push_back(toJson(check));
        else
            printCheck(check);
    }
    if (context.json())
        printJson(out);
    return code;
}

int runNodesRemove(CommandContext& context, const std::string& name) {
    const auto removed = context.fleet().remove(QString::fromStdString(name));
    if (!removed)
        return printError(context, removed.error());
    if (context.json())
        printJson({{"removed", name}});
    return 0;
}

} // namespace rm::cli
