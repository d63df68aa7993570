// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/fleet.h"

#include "app/core/answer.h"
#include "app/core/fleet/node_check.h"
#include "app/core/fleet/node_checker.h"
#include "app/core/fleet/nodes_file.h"
#include "app/core/fleet/ssh_aliases.h"
#include "app/core/remote/credential_store.h"
#include "shared/io/file.h"

#include <QDir>
#include <QFile>
#include <QLockFile>
#include <QThreadPool>
#include <QtConcurrent>

#include <algorithm>

namespace rm {

struct Fleet::Impl {
    QString folder;
    std::vector<Node> nodes; ///< without the local one, by name
    std::map<QString, NodeCheck> checks;
    /// Shared with the workers, which end before it does.
    std::shared_ptr<CredentialStore> granted = std::make_shared<CredentialStore>();
    std::stop_source stop;
    /// One worker each: a host sees one check at a time. Last, so that they end first.
    std::map<QString, std::unique_ptr<QThreadPool>> workers;

    QString path() const { return folder + "/nodes.toml"; }
    Result<std::vector<Node>> read() const;
    Result<void> edit(const std::function<Result<void>(std::vector<Node>&)>& change);
    QThreadPool* workerOf(const QString& name);
};

Result<std::vector<Node>> Fleet::Impl::read() const {
    if (!QFile::exists(path()))
        return std::vector<Node>();
    const auto text = readFile(path().toStdString());
    if (!text)
        return tl::unexpected(text.error());
    auto parsed = parseNodes(*text, path().toStdString());
    if (parsed)
        std::ranges::sort(*parsed, {}, &Node::name);
    return parsed;
}

/// Reads, changes and writes the file as one step: the window and a terminal may both be at it.
Result<void> Fleet::Impl::edit(const std::function<Result<void>(std::vector<Node>&)>& change) {
    if (!QDir().mkpath(folder))
        return fail(ErrorCode::kDenied, "make " + folder.toStdString() + ": not allowed");
    QLockFile lock(path() + ".lock");
    if (!lock.tryLock(2000))
        return fail(ErrorCode::kUnavailable,
                    "save " + path().toStdString() + ": another Ringmaster is writing it");
    auto current = read();
    if (!current)
        return failAs("save the nodes", current.error());
    if (auto changed = change(*current); !changed)
        return changed;
    std::ranges::sort(*current, {}, &Node::name);
    if (auto written = writeFileAtomically(path().toStdString(), toToml(*current)); !written)
        return written;
    nodes = std::move(*current);
    return {};
}

QThreadPool* Fleet::Impl::workerOf(const QString& name) {
    auto& worker = workers[name];
    if (!worker) {
        worker = std::make_unique<QThreadPool>();
        worker->setMaxThreadCount(1);
    }
    return worker.get();
}

Fleet::Fleet(QString configDir, QObject* parent)
    : QObject(parent)
    , m_impl(std::make_unique<Impl>()) {
    m_impl->folder = std::move(configDir);
    QDir().mkpath(m_impl->folder);
}

Fleet::~Fleet() {
    m_impl->stop.request_stop();
}

Result<void> Fleet::load() {
    auto nodes = m_impl->read();
    if (!nodes)
        return tl::unexpected(nodes.error());
    m_impl->nodes = std::move(*nodes);
    Q_EMIT nodesChanged();
    return {};
}

std::vector<Node> Fleet::nodes() const {
    std::vector<Node> all{localNode()};
    all.insert(all.end(), m_impl->nodes.begin(), m_impl->nodes.end());
    return all;
}

std::optional<Node> Fleet::find(const QString& name) const {
    for (const Node& node : nodes()) {
        if (node.name == name.toStdString())
            return node;
    }
    return std::nullopt;
}

Result<void> Fleet::add(const Node& node) {
    if (auto good = checkNode(node); !good)
        return good;
    if (node.isLocal || node.name == kLocalNodeName)
        return fail(ErrorCode::kInvalid, "add node " + node.name + ": this computer always is one");
    const auto added = m_impl->edit([&node](std::vector<Node>& nodes) -> Result<void> {
        if (std::ranges::find(nodes, node.name, &Node::name) != nodes.end())
            return fail(ErrorCode::kInvalid,
                        "add node " + node.name + ": there is already one of that name");
        nodes.push_back(node);
        return {};
    });
    if (added)
        Q_EMIT nodesChanged();
    return added;
}

Result<void> Fleet::remove(const QString& name) {
    const auto removed = m_impl->edit([&name](std::vector<Node>& nodes) -> Result<void> {
        if (std::erase_if(nodes, [&](const Node& n) { return n.name == name.toStdString(); }) == 0)
            return fail(ErrorCode::kNotFound,
                        "remove node " + name.toStdString() + ": there is none of that name");
        return {};
    });
    if (!removed)
        return removed;
    m_impl->checks.erase(name);
    m_impl->granted->forget(name.toStdString());
    Q_EMIT nodesChanged();
    return {};
}

CredentialStore& Fleet::credentials() const {
    return *m_impl->granted;
}

namespace {

/// Keeps what opened the node, or got as far as to the next question.
void remember(const NodeCheck& check, Credentials credentials, CredentialStore& granted) {
    using Need = ConnectFailure::Need;
    const Need need = check.failure ? check.failure->need : Need::kNothing;
    if (check.failure && need != Need::kPassword && need != Need::kPassphrase)
        return;
    if (need == Need::kPassword)
        credentials.password.reset();
    if (need == Need::kPassphrase)
        credentials.passphrase.reset();
    granted.forget(check.node);
    granted.grant(check.node, credentials);
}

NodeCheck checkWithGrants(const Node& node, Credentials credentials, CredentialStore& granted,
                          const std::stop_token& stop) {
    const Credentials known = granted.lookUp(node.name);
    if (!credentials.password)
        credentials.password = known.password;
    if (!credentials.passphrase)
        credentials.passphrase = known.passphrase;
    NodeCheck check = checkNodeNow(node, credentials, stop);
    remember(check, credentials, granted);
    return check;
}

NodeCheck noSuchNode(const QString& name) {
    NodeCheck check;
    check.node = name.toStdString();
    check.failure = ConnectFailure{
        {ErrorCode::kNotFound, "check node " + check.node + ": there is none of that name"},
        ConnectFailure::Need::kNothing,
        {}};
    return check;
}

} // namespace

QFuture<NodeCheck> Fleet::check(const QString& name, Credentials credentials) {
    const auto node = find(name);
    if (!node)
        return QtFuture::makeReadyFuture(noSuchNode(name));
    auto answer = QtConcurrent::run(m_impl->workerOf(name),
                                    [node = *node, credentials = std::move(credentials),
                                     granted = m_impl->granted, stop = m_impl->stop.get_token()] {
                                        return checkWithGrants(node, credentials, *granted, stop);
                                    });
    Q_EMIT checkChanged(name);
    return passOn(answer, this, [this, name](const NodeCheck& check) {
        // A node that was removed meanwhile is not to come back.
        if (find(name)) {
            m_impl->checks[name] = check;
            Q_EMIT checkChanged(name);
            if (!check.failure)
                Q_EMIT nodeOpened(name);
        }
    });
}

std::optional<NodeCheck> Fleet::lastCheck(const QString& name) const {
    const auto known = m_impl->checks.find(name);
    if (known == m_impl->checks.end())
        return std::nullopt;
    return known->second;
}

std::vector<std::string> Fleet::sshConfigAliases() {
    return sshAliasesOf((QDir::homePath() + "/.ssh/config").toStdString());
}

} // namespace rm
