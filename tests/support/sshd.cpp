// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/support/sshd.h"

#include "shared/io/file.h"
#include "tests/support/free_port.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTest>

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace rm {
namespace {

constexpr int kStepMs = 10000;
const QString kServer = QStringLiteral("/usr/sbin/sshd");

Result<QString> output(const QString& program, const QStringList& arguments) {
    QProcess process;
    process.start(program, arguments);
    if (process.waitForFinished(kStepMs) && process.exitStatus() == QProcess::NormalExit &&
        process.exitCode() == 0)
        return QString::fromUtf8(process.readAllStandardOutput());
    return fail(ErrorCode::kUnavailable,
                (program + ": " + QString::fromUtf8(process.readAllStandardError())).toStdString());
}

Result<void> writeText(const QString& path, const QString& text) {
    return writeFileAtomically(path.toStdString(), text.toStdString());
}

QString readText(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

std::vector<pid_t> childrenOf(pid_t parent) {
    std::vector<pid_t> children;
    for (const QString& name : QDir("/proc").entryList({"[0-9]*"}, QDir::Dirs)) {
        const QString stat = readText("/proc/" + name + "/stat");
        const QStringList fields = stat.mid(stat.lastIndexOf(')') + 2).split(' ');
        if (fields.size() > 1 && fields[1].toInt() == parent)
            children.push_back(name.toInt());
    }
    return children;
}

/// sshd and its child processes for connections, but not what a session has left running.
void killSessionsOf(pid_t parent) {
    for (const pid_t child : childrenOf(parent)) {
        const QString name = readText(QStringLiteral("/proc/%1/comm").arg(child));
        if (!name.startsWith("sshd"))
            continue;
        killSessionsOf(child);
        ::kill(child, SIGKILL);
    }
}

} // namespace

Result<void> canRunSshd() {
    if (!QFileInfo(kServer).isExecutable())
        return fail(ErrorCode::kNotFound, "run sshd: openssh-server is not installed");
    return {};
}

Result<QString> makeSshKey(const QString& path, const QString& passphrase) {
    QFile::remove(path);
    QFile::remove(path + ".pub");
    const QStringList arguments{"-q", "-t", "ed25519", "-N", passphrase, "-C", "test", "-f", path};
    if (const auto made = output("ssh-keygen", arguments); !made)
        return made;
    return readText(path + ".pub").trimmed();
}

SshServer::SshServer(Options options)
    : m_options(std::move(options)) {
    if (m_options.port == 0)
        m_options.port = test::freePort();
}

SshServer::~SshServer() {
    stop();
}

Result<std::unique_ptr<SshServer>> SshServer::start(const Options& options) {
    std::unique_ptr<SshServer> server(new SshServer(options));
    if (auto done = server->prepare(); !done)
        return tl::unexpected(done.error());
    if (auto done = server->launch(); !done)
        return tl::unexpected(done.error());
    return server;
}

Result<void> SshServer::prepare() {
    if (::geteuid() == 0 && !QDir().mkpath("/run/sshd")) // sshd demands it when root
        return fail(ErrorCode::kDenied, "make /run/sshd: not allowed");
    QDir().mkpath(home());
    if (!m_options.seed.isEmpty()) {
        m_seeded = std::make_unique<SeededFolder>(home() + "/data/ringmaster", m_options.seed,
                                                  m_dir.filePath("seeded"));
        if (!m_seeded->error().isEmpty())
            return fail(ErrorCode::kDenied, m_seeded->error().toStdString());
    }
    if (auto key = makeSshKey(m_dir.filePath("host_key")); !key)
        return tl::unexpected(key.error());
    if (auto keys = writeText(m_dir.filePath("authorized_keys"), m_options.authorizedKey + '\n');
        !keys)
        return keys;
    return writeText(m_dir.filePath("sshd_config"), configuration());
}

QString SshServer::configuration() const {
    QStringList environment{"HOME=" + home(), "XDG_CONFIG_HOME=" + home() + "/config",
                            "XDG_DATA_HOME=" + home() + "/data",
                            "XDG_STATE_HOME=" + home() + "/state",
                            "XDG_CACHE_HOME=" + home() + "/cache"};
    environment += m_options.environment;
    QStringList lines = m_options.settings;
    lines << "Port " + QString::number(m_options.port) << "ListenAddress " + m_options.address
          << "HostKey " + m_dir.filePath("host_key")
          << "AuthorizedKeysFile " + m_dir.filePath("authorized_keys") << "PidFile none"
          << "UsePAM no"
          << "StrictModes no"
          << "PermitRootLogin yes"
          << "PasswordAuthentication yes"
          << "KbdInteractiveAuthentication no"
          << "LogLevel DEBUG1"
          << "PrintMotd no"
          << "Subsystem sftp internal-sftp"
          << "SetEnv \"" + environment.join("\" \"") + '"';
    return lines.join('\n') + '\n';
}

Result<void> SshServer::launch() {
    std::optional<OwnTemporary> temporary;
    if (m_options.hasOwnTemporary) {
        temporary.emplace();
        temporary->kept << m_dir.path();
        if (!home().startsWith(m_dir.path() + '/'))
            temporary->kept << home();
        for (const OwnDrive& drive : m_options.drives)
            temporary->kept << drive.path;
    }
    auto seeing = commandSeeing(
        m_options.files, m_dir.filePath("files"),
        {kServer, "-D", "-f", m_dir.filePath("sshd_config"), "-E", m_dir.filePath("log")},
        m_options.drives, temporary);
    if (!seeing)
        return tl::unexpected(seeing.error());
    QStringList command = std::move(*seeing);
    if (!m_options.space.isEmpty())
        command = QStringList{"ip", "netns", "exec", m_options.space} + command;
    const auto seen = log().size();
    m_process.setStandardOutputFile(QProcess::nullDevice());
    m_process.setStandardErrorFile(m_dir.filePath("stderr"), QIODevice::Append);
    m_process.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGTERM); });
    m_process.start(command.takeFirst(), command);
    const bool up = QTest::qWaitFor(
        [&] {
            return m_process.state() == QProcess::NotRunning ||
                   log().mid(seen).contains("Server listening");
        },
        kStepMs);
    if (up && m_process.state() != QProcess::NotRunning)
        return {};
    return fail(ErrorCode::kUnavailable,
                ("start sshd: " + log() + readText(m_dir.filePath("stderr"))).toStdString());
}

void SshServer::cutSessions() {
    killSessionsOf(pid());
}

void SshServer::stop() {
    if (m_process.state() == QProcess::NotRunning)
        return;
    cutSessions();
    m_process.terminate();
    if (!m_process.waitForFinished(kStepMs))
        m_process.kill();
}

Result<void> SshServer::restart() {
    stop();
    return launch();
}

Result<void> SshServer::changePassword(const QString& password) {
    return rewriteOwnFile(shadowWith(password), m_dir.filePath("files"));
}

Result<void> SshServer::changeHostKey() {
    stop();
    if (auto key = makeSshKey(m_dir.filePath("host_key")); !key)
        return tl::unexpected(key.error());
    return launch();
}

QString SshServer::fingerprint() const {
    const auto line =
        output("ssh-keygen", {"-l", "-E", "sha256", "-f", m_dir.filePath("host_key.pub")});
    return line ? line->section(' ', 1, 1) : QString();
}

QString SshServer::knownHostsLine() const {
    const QString key = readText(m_dir.filePath("host_key.pub")).section(' ', 0, 1);
    const QString name =
        port() == 22 ? address() : QStringLiteral("[%1]:%2").arg(address()).arg(port());
    return name + ' ' + key;
}

QString SshServer::log() const {
    return readText(m_dir.filePath("log"));
}

} // namespace rm
