// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/fleet.h"

#include "app/core/answer.h"
#include "app/core/findings/text.h"
#include "app/core/fleet/check_history.h"
#include "app/core/fleet/check_rows.h"
#include "app/core/fleet/checks_file.h"
#include "app/core/fleet/node_checker.h"
#include "app/core/fleet/nodes_file.h"
#include "app/core/network/network_file.h"
#include "app/core/node/node_check.h"
#include "app/core/remote/credential_store.h"
#include "app/core/settings/private_files.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QLockFile>
#include <QPromise>
#include <QThreadPool>
#include <QtConcurrent>

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

namespace rm {

struct Fleet::Impl {
    /// A check that somebody waits for.
    struct UnderWay {
        Node node; ///< as it was at the start
        std::stop_source stop;
        std::optional<CheckStage> stage; ///< empty: another process makes it
        QPromise<NodeCheck> answer;
    };

    QString folder;
    QString stateFolder;               ///< empty: checks are not kept
    std::vector<Node> nodes;           ///< the local one first, then by name
    std::vector<std::string> warnings; ///< not told yet
    std::set<std::string> reported;    ///< all that were met
    std::optional<Error> problem;      ///< of the file
    Checker checker;
    std::map<QString, NodeCheck> checks;
    std::function<KnownRuns()> knownRuns;
    std::optional<KnownRuns> runsOfThisTurn; ///< what that has answered
    std::vector<std::shared_ptr<UnderWay>> underWay;
    /// Shared with the workers, which end before it does.
    std::shared_ptr<CredentialStore> granted = std::make_shared<CredentialStore>();
    std::stop_source stop;
    /// One worker each: a host sees one check at a time. Last, so that they end first.
    std::map<QString, std::unique_ptr<QThreadPool>> workers;

    QString path() const { return folder + "/nodes.toml"; }
    Result<NodesFile> read() const;
    Result<void> edit(const std::function<Result<void>(std::vector<Node>&)>& change);
    Result<void> insert(const std::vector<Node>& wanted);
    void takeOver(NodesFile file);
    QThreadPool* workerOf(const QString& name);
    const KnownRuns& runsNow(Fleet* fleet);
    std::function<std::optional<NetworkMatrix>()> networkReader() const;
    QFuture<NodeCheck> startCheck(Fleet* fleet, const std::shared_ptr<UnderWay>& check,
                                  Credentials credentials);
    bool isUnderWay(const std::shared_ptr<UnderWay>& check) const {
        return std::ranges::find(underWay, check) != underWay.end();
    }
    void readChecks();
    void keep(const Node& node, const NodeCheck& check);
    /// Drops what is known about the machine that the name used to stand for. Returns what was
    /// granted.
    CredentialStore::Taken forget(const Node& node) {
        checks.erase(QString::fromStdString(node.name));
        return granted->take(node);
    }
    QString checksPath() const { return stateFolder + "/checks.json"; }
    /// A name may begin with a dot, and none is a path. Empty: nothing is kept.
    std::string historyPath(const std::string& name) const {
        return stateFolder.isEmpty() ? std::string()
                                     : stateFolder.toStdString() + "/checks/" + name + ".json";
    }
};

namespace {

/// This computer first, then by name: gpu-2 before gpu-10.
void order(std::vector<Node>& nodes) {
    std::ranges::sort(nodes, [](const Node& a, const Node& b) {
        if (isThisComputer(a) != isThisComputer(b))
            return isThisComputer(a);
        return ::strverscmp(a.name.c_str(), b.name.c_str()) < 0;
    });
}

Node& localIn(std::vector<Node>& nodes) {
    const auto local = std::ranges::find_if(nodes, isThisComputer);
    return local == nodes.end() ? nodes.emplace_back(localNode()) : *local;
}

} // namespace

Result<NodesFile> Fleet::Impl::read() const {
    const QFileInfo file(path());
    if (!file.exists() && !file.isSymLink()) // a link that leads nowhere is of a disk that is away
        return NodesFile();
    RM_ASSIGN_OR_RETURN(const auto text, readFile(path().toStdString()));
    if (text.empty()) // Ringmaster writes a line into a list without nodes
        return fail(ErrorCode::kCorrupt,
                    say("gpu.node-file-empty", {{"file", path().toStdString()}}));
    return parseNodes(text, path().toStdString());
}

void Fleet::Impl::takeOver(NodesFile file) {
    problem.reset();
    nodes = std::move(file.nodes);
    localIn(nodes);
    order(nodes);
    for (std::string& warning : file.warnings)
        if (reported.insert(warning).second)
            warnings.push_back(std::move(warning));
}

/// Reads, changes and writes the file under a lock: a window and a terminal may both be editing it.
Result<void> Fleet::Impl::edit(const std::function<Result<void>(std::vector<Node>&)>& change) {
    if (!QDir().mkpath(folder))
        return failAs(say("gpu.node-make-folder", {{"folder", folder.toStdString()}}),
                      {ErrorCode::kDenied, say("gpu.node-not-allowed")});
    QLockFile lock(path() + ".lock");
    if (!lock.tryLock(2000))
        return failAs(say("gpu.node-save-file", {{"file", path().toStdString()}}),
                      {ErrorCode::kUnavailable, say("gpu.node-written-by-other")});
    auto current = read();
    if (!current)
        return failAs(say("gpu.node-save-all"), current.error());
    localIn(current->nodes);
    if (auto changed = change(current->nodes); !changed)
        return changed;
    order(current->nodes);
    NodesFile written = *current;
    std::erase(written.nodes, localNode()); // of whom nothing was set
    if (auto done = writeFileAtomically(behindLinks(path().toStdString()), toToml(written)); !done)
        return done;
    protectFile(path().toStdString());
    takeOver(std::move(*current));
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

/// Ignores what cannot be read: the check can be repeated.
void Fleet::Impl::readChecks() {
    if (stateFolder.isEmpty())
        return;
    if (const auto text = readFile(checksPath().toStdString()))
        for (NodeCheck& check : parseChecks(*text, nodes)) {
            NodeCheck& known = checks[QString::fromStdString(check.node)];
            if (known.checkedNs < check.checkedNs)
                known = std::move(check);
        }
}

namespace {

/// Replaces the text of a file of the state folder; what is not there is empty.
void rewrite(const std::string& path, const std::function<std::string(const std::string&)>& edit) {
    const auto before = readFile(path);
    const auto written = writeFileAtomically(path, edit(before ? *before : std::string()));
    protectFile(path);
    if (!written)
        qWarning("%s", written.error().message.c_str());
}

} // namespace

/// Other Ringmasters keep checks of other nodes in the same file.
void Fleet::Impl::keep(const Node& node, const NodeCheck& check) {
    if (stateFolder.isEmpty() || !makePrivateFolder(stateFolder.toStdString() + "/checks"))
        return;
    QLockFile lock(checksPath() + ".lock");
    if (!lock.tryLock(2000))
        return;
    rewrite(checksPath().toStdString(),
            [&](const std::string& text) { return withCheck(text, node, check); });
    rewrite(historyPath(node.name),
            [&](const std::string& text) { return withPastCheck(text, node, check); });
}

Fleet::Fleet(QString configDir, QString stateDir, QObject* parent)
    : QObject(parent)
    , m_impl(std::make_unique<Impl>()) {
    m_impl->folder = std::move(configDir);
    m_impl->stateFolder = std::move(stateDir);
    m_impl->nodes = {localNode()};
    (void)makePrivateFolder(m_impl->folder.toStdString()); // load() and edit() tell what is wrong
}

Fleet::~Fleet() {
    m_impl->stop.request_stop();
}

Result<void> Fleet::load() {
    auto file = m_impl->read();
    if (!file) {
        const bool isNew = !m_impl->problem || m_impl->problem->message != file.error().message;
        m_impl->problem = file.error();
        if (isNew)
            Q_EMIT nodesChanged();
        return tl::unexpected(file.error());
    }
    const bool wasBroken = m_impl->problem.has_value();
    const std::vector<Node> earlier = m_impl->nodes;
    m_impl->takeOver(std::move(*file));
    const bool isNews = wasBroken || earlier != m_impl->nodes;
    std::vector<std::string> edited;
    if (wasBroken)
        for (const Node& now : m_impl->nodes)
            if (std::ranges::find(earlier, now.name, &Node::name) == earlier.end())
                edited.push_back(now.name);
    for (const Node& before : earlier)
        if (const auto now = find(QString::fromStdString(before.name));
            !now || !areReachedAlike(*now, before)) {
            m_impl->forget(before);
            if (now)
                edited.push_back(before.name);
        }
    m_impl->readChecks();
    if (isNews)
        Q_EMIT nodesChanged();
    for (const std::string& name : edited)
        Q_EMIT nodeEdited(QString::fromStdString(name));
    return {};
}

std::optional<Error> Fleet::problem() const {
    return m_impl->problem;
}

std::vector<std::string> Fleet::takeWarnings() {
    return std::exchange(m_impl->warnings, {});
}

std::vector<Node> Fleet::nodes() const {
    return m_impl->nodes;
}

std::optional<Node> Fleet::find(const QString& name) const {
    for (const Node& node : m_impl->nodes) {
        if (node.name == name.toStdString())
            return node;
    }
    return std::nullopt;
}

Result<void> Fleet::add(const Node& node) {
    return addAll({node});
}

Result<void> Fleet::Impl::insert(const std::vector<Node>& wanted) {
    for (const Node& node : wanted) {
        if (isThisComputer(node) || node.name == kLocalNodeName)
            return failAs(say("gpu.node-add", {{"node", node.name}}),
                          {ErrorCode::kInvalid, say("gpu.node-always-there")});
        RM_RETURN_IF_ERROR(checkNode(node));
    }
    return edit([&wanted](std::vector<Node>& known) -> Result<void> {
        for (const Node& node : wanted) {
            if (std::ranges::find(known, node.name, &Node::name) != known.end())
                return failAs(say("gpu.node-add", {{"node", node.name}}),
                              {ErrorCode::kInvalid, say("gpu.node-name-taken")});
            known.push_back(node);
        }
        return {};
    });
}

Result<void> Fleet::addAll(const std::vector<Node>& wanted) {
    RM_RETURN_IF_ERROR(m_impl->insert(wanted));
    Q_EMIT nodesChanged();
    return {};
}

Result<void> Fleet::change(const Node& node) {
    if (auto good = checkNode(node); !good)
        return good;
    Node before = node;
    const auto changed = m_impl->edit([&](std::vector<Node>& nodes) -> Result<void> {
        const auto known = std::ranges::find(nodes, node.name, &Node::name);
        if (known == nodes.end())
            return failAs(say("gpu.node-edit", {{"node", node.name}}),
                          {ErrorCode::kNotFound, say("gpu.node-none-to-edit")});
        before = std::exchange(*known, node);
        return {};
    });
    if (!changed)
        return changed;
    const bool isElsewhere = !areReachedAlike(before, node);
    if (isElsewhere)
        m_impl->forget(before);
    Q_EMIT nodesChanged();
    if (isElsewhere)
        Q_EMIT nodeEdited(QString::fromStdString(node.name));
    return {};
}

Result<RemovedNode> Fleet::remove(const QString& name) {
    const std::string attempt = say("gpu.node-remove", {{"node", name.toStdString()}});
    const auto known = find(name);
    if (known && isThisComputer(*known))
        return failAs(attempt, {ErrorCode::kInvalid, say("gpu.node-never-removed")});
    RemovedNode removed;
    RM_RETURN_IF_ERROR(m_impl->edit([&](std::vector<Node>& nodes) -> Result<void> {
        const auto it = std::ranges::find_if(nodes, [&](const Node& node) {
            return node.name == name.toStdString() && !isThisComputer(node);
        });
        if (it == nodes.end())
            return failAs(attempt, {ErrorCode::kNotFound, say("gpu.node-none")});
        removed.node = *it;
        nodes.erase(it);
        return {};
    }));
    removed.check = lastCheck(name);
    removed.granted = m_impl->forget(removed.node);
    if (const std::string history = m_impl->historyPath(removed.node.name); !history.empty()) {
        removed.history = readFile(history).value_or(std::string());
        QFile::remove(QString::fromStdString(history));
    }
    Q_EMIT nodesChanged();
    return removed;
}

Result<void> Fleet::bringBack(const RemovedNode& removed) {
    RM_RETURN_IF_ERROR(m_impl->insert({removed.node}));
    if (removed.check)
        m_impl->checks[QString::fromStdString(removed.node.name)] = *removed.check;
    m_impl->granted->bringBack(removed.node, removed.granted);
    const std::string history = m_impl->historyPath(removed.node.name);
    if (!removed.history.empty() && !history.empty())
        rewrite(history, [&](const std::string&) { return removed.history; });
    Q_EMIT nodesChanged();
    return {};
}

CredentialStore& Fleet::credentials() const {
    return *m_impl->granted;
}

namespace {

/// Keeps the credentials that were accepted, also if the host then asked for another one.
void remember(const Node& node, const NodeCheck& check, Credentials credentials,
              CredentialStore& granted) {
    using Need = ConnectFailure::Need;
    const Need need = check.failure ? check.failure->need : Need::kNothing;
    if (check.failure && need != Need::kPassword && need != Need::kPassphrase)
        return;
    if (need == Need::kPassword)
        credentials.password.reset();
    if (need == Need::kPassphrase)
        credentials.passphrase.reset();
    // known_hosts has the key now, and may come to have another.
    credentials.trustedFingerprint.reset();
    granted.forget(node);
    granted.grant(node, credentials);
}

Credentials withGrants(Credentials credentials, const Credentials& known) {
    if (!credentials.password)
        credentials.password = known.password;
    if (!credentials.passphrase)
        credentials.passphrase = known.passphrase;
    return credentials;
}

NodeCheck checkWithGrants(const Node& node, CheckOrder order, CredentialStore& granted,
                          const std::stop_token& stop) {
    order.credentials = withGrants(std::move(order.credentials), granted.lookUp(node));
    NodeCheck check = checkNodeNow(node, order, stop);
    remember(node, check, order.credentials, granted);
    return check;
}

std::string attemptToCheck(const std::string& node) {
    return say("gpu.node-check", {{"node", node}});
}

NodeCheck failedCheck(const std::string& node, const tl::unexpected<Error>& error) {
    return unansweredCheck(node, {error.value(), ConnectFailure::Need::kNothing, {}});
}

} // namespace

std::string stageWord(CheckStage stage) {
    switch (stage) {
    case CheckStage::kConnect:
        return say("gpu.node-connects");
    case CheckStage::kSendAgent:
        return say("gpu.node-sends-agent");
    case CheckStage::kLook:
        break;
    }
    return say("gpu.node-looks");
}

/// A check of all nodes reads the database once.
const KnownRuns& Fleet::Impl::runsNow(Fleet* fleet) {
    if (!runsOfThisTurn) {
        runsOfThisTurn = knownRuns ? knownRuns() : KnownRuns();
        QMetaObject::invokeMethod(
            fleet, [this] { runsOfThisTurn.reset(); }, Qt::QueuedConnection);
    }
    return *runsOfThisTurn;
}

/// Reads, on any thread, what was measured last between the nodes that are in the list now.
std::function<std::optional<NetworkMatrix>()> Fleet::Impl::networkReader() const {
    if (stateFolder.isEmpty())
        return {};
    std::set<std::string> names;
    for (const Node& node : nodes)
        names.insert(node.name);
    return [folder = stateFolder.toStdString(), names = std::move(names)] {
        const auto kept = lastNetwork(folder);
        return measuredBetween(kept,
                               [&names](const std::string& name) { return names.contains(name); });
    };
}

QFuture<NodeCheck> Fleet::Impl::startCheck(Fleet* fleet, const std::shared_ptr<UnderWay>& check,
                                           Credentials credentials) {
    const Node& node = check->node;
    const QString name = QString::fromStdString(node.name);
    if (!checker) {
        check->stage = CheckStage::kConnect;
        const auto progress = [this, fleet, check, name](CheckStage stage) {
            const auto notify = [this, fleet, check, name, stage] {
                check->stage = stage;
                if (isUnderWay(check))
                    Q_EMIT fleet->checkProgressed(name);
            };
            QMetaObject::invokeMethod(fleet, notify, Qt::QueuedConnection);
        };
        CheckOrder order{std::move(credentials), runsNow(fleet), progress, networkReader()};
        return QtConcurrent::run(workerOf(name), [check, order = std::move(order),
                                                  granted = granted, all = stop,
                                                  history = historyPath(check->node.name)] {
            const std::stop_callback end(all.get_token(), [&] { check->stop.request_stop(); });
            NodeCheck found =
                checkWithGrants(check->node, order, *granted, check->stop.get_token());
            addChanges(found, check->node, readFile(history).value_or(std::string()));
            return found;
        });
    }
    const Credentials all = withGrants(std::move(credentials), granted->lookUp(node));
    // Kept here too: this process has to open the node itself if it becomes the holder.
    return checker(name, all).then([node, all, granted = granted](NodeCheck found) {
        remember(node, found, all, *granted);
        return found;
    });
}

void Fleet::setChecker(Checker checker) {
    m_impl->checker = std::move(checker);
}

void Fleet::setKnownRuns(std::function<KnownRuns()> knownRuns) {
    m_impl->knownRuns = std::move(knownRuns);
    m_impl->runsOfThisTurn.reset();
}

KnownRuns Fleet::knownRuns() const {
    return m_impl->knownRuns ? m_impl->knownRuns() : KnownRuns();
}

QFuture<NodeCheck> Fleet::check(const QString& name, Credentials credentials) {
    const auto node = find(name);
    if (!node)
        return QtFuture::makeReadyFuture(
            failedCheck(name.toStdString(), failAs(attemptToCheck(name.toStdString()),
                                                   {ErrorCode::kNotFound, say("gpu.node-none")})));
    const auto check = std::make_shared<Impl::UnderWay>();
    check->node = *node;
    check->answer.start();
    m_impl->underWay.push_back(check);
    const auto work = m_impl->startCheck(this, check, std::move(credentials));
    Q_EMIT checkChanged(name);
    whenFinished(work, this, [this, name, check](const QFuture<NodeCheck>& done) {
        if (std::erase(m_impl->underWay, check) == 0)
            return; // cancelled, and answered then
        if (done.resultCount() > 0)
            keepAnswer(name, check->node, done.result());
        if (done.resultCount() > 0)
            check->answer.addResult(done.result());
        check->answer.finish();
    });
    return check->answer.future();
}

void Fleet::keepAnswer(const QString& name, const Node& checked, const NodeCheck& check) {
    // A node that was removed meanwhile must not come back, nor is it known of one that was edited
    // what another address answered.
    const auto now = find(name);
    if (!now || !areReachedAlike(*now, checked) || now->gpus != checked.gpus)
        return;
    m_impl->checks[name] = check;
    m_impl->keep(checked, check);
    Q_EMIT checkChanged(name);
    if (!check.failure)
        Q_EMIT nodeOpened(name);
}

std::optional<CheckStage> Fleet::stageOf(const QString& name) const {
    for (const auto& check : m_impl->underWay)
        if (check->node.name == name.toStdString())
            return check->stage;
    return std::nullopt;
}

void Fleet::cancelCheck(const QString& name) {
    std::vector<std::shared_ptr<Impl::UnderWay>> cancelled;
    std::erase_if(m_impl->underWay, [&](const std::shared_ptr<Impl::UnderWay>& check) {
        const bool isIt = check->node.name == name.toStdString();
        if (isIt)
            cancelled.push_back(check);
        return isIt;
    });
    for (const auto& check : cancelled) {
        check->stop.request_stop();
        check->answer.addResult(
            failedCheck(check->node.name, failCancelled(attemptToCheck(check->node.name))));
        check->answer.finish();
    }
    if (!cancelled.empty())
        Q_EMIT checkChanged(name);
}

std::optional<NodeCheck> Fleet::lastCheck(const QString& name) const {
    const auto known = m_impl->checks.find(name);
    if (known == m_impl->checks.end())
        return std::nullopt;
    return known->second;
}

std::vector<NodeCheck> Fleet::lastChecks() const {
    std::vector<NodeCheck> checks;
    for (const Node& node : m_impl->nodes)
        if (const auto known = m_impl->checks.find(QString::fromStdString(node.name));
            known != m_impl->checks.end())
            checks.push_back(known->second);
    return checks;
}

std::vector<PastCheck> Fleet::history(const QString& name) const {
    const auto text = readFile(m_impl->historyPath(name.toStdString()));
    return text ? parseHistory(*text) : std::vector<PastCheck>();
}

} // namespace rm
