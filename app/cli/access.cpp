// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/access.h"

#include "app/cli/command_context.h"
#include "app/cli/terminal.h"

namespace rm::cli {

namespace {

using Need = ConnectFailure::Need;

bool trusts(const Node& node, const std::string& fingerprint) {
    return askYesNo("First contact with " + node.name + ": its host key is " + fingerprint +
                    "\nTrust it?");
}

/// Asks for a secret once: false when it was asked for before or nothing was entered.
bool askInto(std::optional<std::string>& secret, const std::string& question) {
    if (secret)
        return false;
    std::string given = askSecret(question);
    if (given.empty())
        return false;
    secret = std::move(given);
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

std::string withAdvice(const ConnectFailure& failure) {
    if (failure.need == Need::kTrustHostKey)
        return failure.error.message + "; compare " + failure.fingerprint +
               " with the machine's own and pass it as --fingerprint to `nodes add`";
    return failure.error.message;
}

namespace {

NodeCheck checkAsking(CommandContext& context, const Node& node, const std::string& trusted,
                      bool& asked) {
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
        asked = true;
    }
}

} // namespace

NodeCheck checkAsking(CommandContext& context, const Node& node, const std::string& trusted) {
    bool asked = false;
    return checkAsking(context, node, trusted, asked);
}

bool openAsking(CommandContext& context, const std::vector<std::string>& nodes) {
    bool asked = false;
    for (const std::string& name : nodes) {
        const auto node = context.fleet().find(QString::fromStdString(name));
        if (!node || (!node->isLocal && checkAsking(context, *node, {}, asked).failure))
            return false;
    }
    return asked;
}

} // namespace rm::cli
