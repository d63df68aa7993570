// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/integration/testbed.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "tests/integration/run_facts.h"

#include <QDateTime>
#include <QDir>
#include <QDirIterator>
#include <QFile>
#include <QMap>

#include <csignal>

namespace rm {
namespace {

constexpr int kSshPort = 2222;
constexpr qsizetype kLastWords = 1500;

QString specText(const QString& name, const SmallSpec& spec, bool isPaced) {
    return QStringLiteral(R"(name = "%1"
[model]
layers = %10
heads = 2
width = 32
context = 32
[data]
train = ["/usr/share/common-licenses"]
[train]
steps = %2
batch_size = 2
accumulation = %9
threads = 1
[validation]
every = %7
batches = %8
sample_tokens = 16
[checkpoint]
every = %3
keep_last = %6
[launch]
master_port = %4
min_nodes = %5
)")
        .arg(name)
        .arg(spec.steps)
        .arg(spec.checkpointEvery)
        .arg(spec.masterPort)
        .arg(spec.minNodes)
        .arg(spec.keepLast)
        .arg(spec.validationEvery)
        .arg(spec.validationBatches)
        .arg(isPaced ? 1 : 4) // or a fast processor is through before a test has paused it
        .arg(isPaced ? 1 : 2);
}

/// What the agents of the newest run under `folder` wrote, and what its nodes keep of it.
QByteArray wordsOfAgents(const QString& folder) {
    QDirIterator at(folder, {"node-*"}, QDir::Dirs, QDirIterator::Subdirectories);
    QMap<QDateTime, QString> parts;
    while (at.hasNext()) {
        const QString part = at.next();
        if (QFile::exists(part + "/agent.json"))
            parts.insert(QFileInfo(part + "/agent.json").lastModified(), part);
    }
    QByteArray words;
    if (parts.empty())
        return words;
    const QString run = QFileInfo(parts.last()).path();
    for (const QString& part : parts) {
        if (QFileInfo(part).path() != run)
            continue;
        words += part.section('/', -2).toUtf8() + ":\n";
        for (const QFileInfo& file : QDir(part + "/journal").entryInfoList(QDir::Files))
            words += "  " + file.fileName().toUtf8() + ' ' + QByteArray::number(file.size()) + '\n';
        for (const char* name : {"/agent.json", "/log/agent.log"})
            if (QFile file(part + name); file.open(QIODevice::ReadOnly))
                words += file.readAll().right(kLastWords) + '\n';
    }
    return words;
}

} // namespace

Result<void> Testbed::canRun() {
    if (auto can = canMakeNamespaces(); !can)
        return can;
    return canRunSshd();
}

QString Testbed::seedHome() {
    return qEnvironmentVariable("RINGMASTER_BUILD") + "/seeded-node";
}

QString Testbed::seedFolder() {
    return seedHome() + "/data/ringmaster";
}

Testbed::Testbed(NetworkLab lab)
    : m_lab(std::move(lab))
    , m_laptop(m_dir.filePath("laptop"), m_lab.laptop()) {}

Result<void> Testbed::actAsLaptop() {
    m_laptop.takeHome();
    QString known;
    for (const auto& server : m_servers)
        known += server->knownHostsLine() + '\n';
    RM_RETURN_IF_ERROR(
        writeFileAtomically(m_laptop.knownHosts().toStdString(), known.toStdString()));
    RM_ASSIGN_OR_RETURN(auto entered, EnteredSpace::enter(m_lab.laptop()));
    m_entered.emplace(std::move(entered));
    return {};
}

Node Testbed::node(int index) const {
    Node node;
    node.name = nodeName(index).toStdString();
    node.sshHost = NetworkLab::managementAddress(index).toStdString();
    node.user = "root";
    node.port = kSshPort;
    node.identityFile = path("id_ed25519").toStdString();
    return node;
}

QString Testbed::nodeName(int node) {
    return node < 2 ? QString("node-") + QChar('a' + node) : QString("node-%1").arg(node + 1);
}

Result<std::unique_ptr<Testbed>> Testbed::create(const QString& label) {
    return create(label, Options());
}

Result<std::unique_ptr<Testbed>> Testbed::create(const QString& label, const Options& options) {
    auto lab = NetworkLab::create(label, options.nodes);
    if (!lab)
        return tl::unexpected(lab.error());
    std::unique_ptr<Testbed> bed(new Testbed(std::move(*lab)));
    if (auto started = bed->startServers(options); !started)
        return tl::unexpected(started.error());
    return bed;
}

Result<void> Testbed::startServers(const Options& options) {
    const auto key = makeSshKey(path("id_ed25519"));
    if (!key)
        return tl::unexpected(key.error());
    m_publicKey = *key;
    m_isPaced = options.stepMs > 0;
    for (int node = 0; node < options.nodes; ++node) {
        SshServer::Options served;
        served.space = m_lab.node(node);
        served.address = NetworkLab::managementAddress(node);
        served.port = kSshPort;
        served.authorizedKey = m_publicKey;
        served.home = options.sharesHome ? path("home") : options.keptHome;
        if (options.seeded && QFile::exists(seedFolder()) && SeededFolder::whyNot().isEmpty())
            served.seed = seedFolder();
        if (options.sharesDrive && QDir().mkpath(drive()) && QDir().mkpath(driveFolder()))
            served.drives = {{drive(), driveFolder()}};
        served.hasOwnTemporary = options.areApart;
        served.environment = options.environment;
        served.environment << paceOf(options.stepMs);
        served.environment.replaceInStrings("{node}", QString::number(node));
        const auto at = static_cast<size_t>(node);
        if (at < options.ownEnvironment.size())
            served.environment += options.ownEnvironment[at];
        if (at < options.ownFiles.size())
            served.files = options.ownFiles[at];
        auto server = SshServer::start(served);
        if (!server)
            return tl::unexpected(server.error());
        m_servers.push_back(std::move(*server));
    }
    return {};
}

QStringList Testbed::addCommand(int node, const QString& fingerprint, const QString& place) const {
    const QString own = QString("%1:%2").arg(NetworkLab::managementAddress(node)).arg(kSshPort);
    const QString target = "root@" + (place.isEmpty() ? own : place);
    return {"nodes",    "add",   nodeName(node),     "--ssh",
            target,     "--key", path("id_ed25519"), "--fingerprint",
            fingerprint};
}

Result<void> Testbed::addNodes(const Cli& cli) {
    for (int node = 0; node < nodes(); ++node) {
        const CliResult added = cli.run(addCommand(node, server(node).fingerprint()));
        if (added.exitCode != 0)
            return fail(ErrorCode::kUnavailable, "add node: " + added.whole().toStdString());
    }
    return {};
}

QString Testbed::writeSpec(const QString& name, const SmallSpec& spec) const {
    QFile file(path(name + ".toml"));
    if (file.open(QIODevice::WriteOnly))
        file.write(specText(name, spec, m_isPaced).toUtf8());
    return file.fileName();
}

std::vector<pid_t> Testbed::processes(int node, const QString& program,
                                      const QString& words) const {
    std::vector<pid_t> pids;
    for (const SeenProcess& process : NetworkLab::processesIn(m_lab.node(node)))
        if (process.command.section(' ', 0, 0).endsWith('/' + program) &&
            process.command.section(' ', 1).startsWith(words))
            pids.push_back(process.pid);
    return pids;
}

int Testbed::processesNamed(int node, const QString& program) const {
    return static_cast<int>(processes(node, program).size());
}

QString Testbed::strayProcesses() const {
    QStringList strays;
    for (int node = 0; node < nodes(); ++node) {
        for (const SeenProcess& process : NetworkLab::processesIn(m_lab.node(node))) {
            if (process.pid != m_servers[static_cast<size_t>(node)]->pid())
                strays << nodeName(node) + ": " + process.command;
        }
    }
    return strays.join('\n');
}

QByteArray Testbed::reportAndClean(QProcess* app) {
    QByteArray said;
    if (app) {
        const bool isOver = app->state() == QProcess::NotRunning;
        said = isOver ? "the app ended with " + QByteArray::number(app->exitCode())
                      : QByteArray("the app still runs");
        said += "; it said last: " + app->readAllStandardOutput().right(kLastWords) +
                app->readAllStandardError().right(kLastWords) + "\n";
    }
    said += newsOf(m_laptop.database()) + strayProcesses().left(kLastWords).toUtf8() + '\n' +
            wordsOfAgents(m_dir.path());
    (void)m_lab.setDataLink(true);
    for (int node = 0; node < nodes(); ++node) {
        (void)m_lab.setManagementLink(node, true);
        for (const SeenProcess& process : NetworkLab::processesIn(m_lab.node(node)))
            if (process.pid != m_servers[static_cast<size_t>(node)]->pid())
                ::kill(process.pid, SIGKILL);
    }
    return said;
}

} // namespace rm
