// SPDX-License-Identifier: Apache-2.0
#include "tests/support/netns.h"

#include "shared/return_if_error.h"
#include "tests/support/task_state.h"

#include <QDeadlineTimer>
#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonDocument>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>
#include <QThread>

#include <fcntl.h>
#include <sched.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

namespace rm {
namespace {

constexpr int kCommandMs = 5000;
constexpr int kTeardownMs = 10000;
constexpr int kAnswerMs = 20000;
constexpr int kNoPort = 9;
const QString kRouter = QStringLiteral("10.232.1.1");
const QString kUplinkNear = QStringLiteral("10.233.0.2"); ///< at the laptop
const QString kUplinkFar = QStringLiteral("10.233.0.1");  ///< at the router
const QString kNamespaceDir = QStringLiteral("/run/netns");

Result<QByteArray> outputOf(const QString& program, const QString& arguments) {
    QProcess process;
    process.start(program, arguments.split(QLatin1Char(' ')));
    const bool ended = process.waitForFinished(kCommandMs);
    if (ended && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0)
        return process.readAllStandardOutput();
    const QString cause =
        ended ? QString::fromUtf8(process.readAllStandardError()).trimmed() : process.errorString();
    return fail(ErrorCode::kUnavailable, (program + " " + arguments + ": " + cause).toStdString());
}

Result<QByteArray> ipOutput(const QString& arguments) {
    return outputOf(QStringLiteral("ip"), arguments);
}

Result<void> ip(const QString& arguments) {
    return ipOutput(arguments).map([](const QByteArray&) {});
}

Result<void> ipAll(const QStringList& commands) {
    for (const QString& command : commands) {
        if (auto done = ip(command); !done)
            return done;
    }
    return {};
}

Result<void> runIn(const QString& space, const QString& script) {
    QProcess process;
    const QStringList command = NetworkLab::commandIn(space, {"bash", "-c", script});
    process.start(command.first(), command.mid(1));
    if (process.waitForFinished(kCommandMs) && process.exitCode() == 0)
        return {};
    return fail(ErrorCode::kUnavailable, "run in " + space.toStdString() + ": " +
                                             process.readAllStandardError().toStdString());
}

/// The kernel tells a link's carrier a little after the link itself.
bool isCarried(const QString& space, const QString& interface) {
    const auto text = ipOutput("-n " + space + " -br link show " + interface);
    return text && text->simplified().split(' ').value(1) == "UP";
}

/// Until that machine answers; the kernel may carry over a link only seconds after it came up.
Result<void> waitForAnswer(const QString& space, const QString& address) {
    // Nobody listens there: that the connection is refused is an answer.
    const QString connect = QStringLiteral("exec 3<>/dev/tcp/%1/%2").arg(address).arg(kNoPort);
    const QStringList command =
        NetworkLab::commandIn(space, {"env", "LC_ALL=C", "bash", "-c", connect});
    QByteArray said;
    const auto answers = [&] {
        QProcess process;
        process.start(command.first(), command.mid(1));
        process.waitForFinished(kCommandMs);
        said = process.readAllStandardError();
        return said.contains("refused");
    };
    if (!QTest::qWaitFor(answers, kAnswerMs))
        return fail(ErrorCode::kUnavailable, "reach " + address.toStdString() + " from " +
                                                 space.toStdString() + ": " + said.toStdString());
    return {};
}

QString commandLineOf(pid_t pid) {
    QFile file(QStringLiteral("/proc/%1/cmdline").arg(pid));
    if (!file.open(QIODevice::ReadOnly))
        return {};
    return QString::fromLocal8Bit(file.readAll().replace('\0', ' ')).trimmed();
}

void removeNamespace(const QString& space) {
    const QDeadlineTimer deadline(kTeardownMs);
    auto running = NetworkLab::processesIn(space);
    while (!running.empty() && !deadline.hasExpired()) {
        for (const SeenProcess& process : running)
            ::kill(process.pid, SIGKILL);
        QThread::msleep(5); // polled, as these need not be our children
        running = NetworkLab::processesIn(space);
    }
    if (auto done = ip(QStringLiteral("netns del ") + space); !done)
        qWarning("%s", done.error().message.c_str());
}

/// Removes the namespaces of processes that died before they could.
void sweep(const QString& label) {
    const QRegularExpression ours(QStringLiteral("^rm-%1-(\\d+)-").arg(label));
    for (const QString& name : QDir(kNamespaceDir).entryList(QDir::Files | QDir::System)) {
        const auto match = ours.match(name);
        if (match.hasMatch() && !QFile::exists(QStringLiteral("/proc/") + match.captured(1)))
            removeNamespace(name);
    }
}

} // namespace

Result<void> canMakeNamespaces() {
    if (::geteuid() != 0)
        return fail(ErrorCode::kDenied, "make network namespaces: not root");
    const QString probe = QStringLiteral("rm-probe-%1").arg(::getpid());
    if (auto made = ip(QStringLiteral("netns add ") + probe); !made)
        return made;
    return ip(QStringLiteral("netns del ") + probe);
}

Result<NetworkLab> NetworkLab::create(const QString& label, int nodes) {
    sweep(label);
    NetworkLab lab(QStringLiteral("rm-%1-%2").arg(label).arg(::getpid()), nodes);
    if (auto built = lab.build(); !built)
        return tl::unexpected(built.error());
    return lab;
}

QStringList NetworkLab::spaces() const {
    QStringList all{laptop()};
    for (int i = 0; i < m_nodes; ++i)
        all << node(i);
    if (m_nodes > 2)
        all << router();
    return all;
}

QStringList NetworkLab::cables() const {
    QStringList commands;
    if (m_nodes == 2)
        commands << "link add data0 netns " + node(0) + " type veth peer name data0 netns " +
                        node(1);
    for (int i = 0; i < m_nodes && m_nodes > 2; ++i) {
        const QString port = QStringLiteral("port%1").arg(i);
        commands << "link add data0 netns " + node(i) + " type veth peer name " + port + " netns " +
                        router()
                 << "-n " + router() + " addr add " + kRouter + "/32 dev " + port
                 << "-n " + router() + " link set " + port + " up"
                 << "-n " + router() + " route add " + dataAddress(i) + "/32 dev " + port;
    }
    for (int i = 0; i < m_nodes; ++i)
        commands << "-n " + node(i) + " addr add " + dataAddress(i) + "/24 dev data0" +
                        (m_nodes > 2 ? " noprefixroute" : "")
                 << "-n " + node(i) + " link set data0 up";
    for (int i = 0; i < m_nodes && m_nodes > 2; ++i)
        commands << "-n " + node(i) + " route add 10.232.0.0/24 via " + kRouter +
                        " dev data0 onlink";
    return commands;
}

Result<void> NetworkLab::build() {
    QStringList commands;
    for (const QString& space : spaces())
        commands << "netns add " + space << "-n " + space + " link set lo up";
    for (int i = 0; i < m_nodes; ++i) {
        const QString port = QStringLiteral("node%1").arg(i);
        const QString near = QStringLiteral("10.231.%1.1/24").arg(i + 1);
        commands << "link add mgmt0 netns " + node(i) + " type veth peer name " + port + " netns " +
                        laptop()
                 << "-n " + laptop() + " addr add " + near + " dev " + port
                 << "-n " + laptop() + " link set " + port + " up"
                 << "-n " + node(i) + " addr add " + managementAddress(i) + "/24 dev mgmt0"
                 << "-n " + node(i) + " link set mgmt0 up";
    }
    commands << cables();
    RM_RETURN_IF_ERROR(ipAll(commands));
    if (m_nodes > 2) {
        RM_RETURN_IF_ERROR(runIn(router(), "echo 1 > /proc/sys/net/ipv4/ip_forward"));
    }
    for (int i = 0; i < m_nodes; ++i) {
        const auto isUp = [&] {
            return isCarried(node(i), "mgmt0") && isCarried(node(i), "data0");
        };
        if (!QTest::qWaitFor(isUp, kCommandMs))
            return fail(ErrorCode::kUnavailable, "bring up the links of " + node(i).toStdString() +
                                                     ": no carrier within 5 s");
    }
    return {};
}

NetworkLab::NetworkLab(NetworkLab&& other) noexcept
    : m_prefix(std::exchange(other.m_prefix, {}))
    , m_nodes(other.m_nodes) {}

NetworkLab::~NetworkLab() {
    if (m_prefix.isEmpty())
        return;
    for (const QString& space : spaces()) {
        if (QFile::exists(kNamespaceDir + QLatin1Char('/') + space))
            removeNamespace(space);
    }
}

QString NetworkLab::laptop() const {
    return m_prefix + QStringLiteral("-laptop");
}

QString NetworkLab::node(int index) const {
    return m_prefix + QStringLiteral("-node%1").arg(index);
}

QString NetworkLab::router() const {
    return m_prefix + QStringLiteral("-router");
}

QString NetworkLab::managementAddress(int index) {
    return QStringLiteral("10.231.%1.2").arg(index + 1);
}

QString NetworkLab::dataAddress(int index) {
    return QStringLiteral("10.232.0.%1").arg(index + 1);
}

Result<void> NetworkLab::setManagementLink(int index, bool up) {
    RM_RETURN_IF_ERROR(ip("-n " + node(index) + " link set mgmt0 " + (up ? "up" : "down")));
    return up ? waitForAnswer(laptop(), managementAddress(index)) : Result<void>();
}

Result<void> NetworkLab::setManagementRate(int index, const QString& rate) {
    const QString near = laptop() + QStringLiteral(" qdisc replace dev node%1 root ").arg(index);
    const QString far = node(index) + QStringLiteral(" qdisc replace dev mgmt0 root ");
    const QString kind =
        rate.isEmpty() ? "pfifo_fast" : "tbf rate " + rate + " burst 4kb latency 1s";
    for (const QString& end : {near, far})
        RM_RETURN_IF_ERROR(outputOf(QStringLiteral("tc"), "-n " + end + kind));
    return {};
}

Result<void> NetworkLab::setDataRate(const QString& rate) {
    // The burst holds what the rate lets through between two ticks of the clock.
    const QString kind = rate.isEmpty() ? QStringLiteral("pfifo_fast")
                                        : "tbf rate " + rate + " burst 256kb latency 200ms";
    for (int i = 0; i < m_nodes; ++i)
        RM_RETURN_IF_ERROR(outputOf(QStringLiteral("tc"),
                                    "-n " + node(i) + " qdisc replace dev data0 root " + kind));
    return {};
}

QStringList NetworkLab::uplink() const {
    QStringList commands{
        "link add uplink netns " + laptop() + " type veth peer name uplink netns " + router(),
        "-n " + laptop() + " addr add " + kUplinkNear + "/30 dev uplink",
        "-n " + router() + " addr add " + kUplinkFar + "/30 dev uplink",
        "-n " + laptop() + " link set uplink up",
        "-n " + router() + " link set uplink up",
    };
    for (int i = 0; i < m_nodes; ++i) {
        const QString place = managementAddress(i) + "/32";
        const QString own = QStringLiteral("10.231.%1.1").arg(i + 1);
        commands << "-n " + router() + " route add " + place + QStringLiteral(" dev port%1").arg(i)
                 << "-n " + laptop() + " route add " + place + " via " + kUplinkFar +
                        " dev uplink src " + own;
    }
    return commands;
}

Result<void> NetworkLab::addUplink(const QString& rate) {
    RM_RETURN_IF_ERROR(ipAll(uplink()));
    QStringList ends{laptop() + " qdisc replace dev uplink"};
    for (int i = 0; i < m_nodes; ++i)
        ends << node(i) + " qdisc replace dev mgmt0" << node(i) + " qdisc replace dev data0"
             << router() + QStringLiteral(" qdisc replace dev port%1").arg(i);
    for (const QString& end : ends)
        RM_RETURN_IF_ERROR(outputOf(QStringLiteral("tc"), "-n " + end + " root tbf rate " + rate +
                                                              " burst 32kb latency 200ms"));
    return waitForAnswer(laptop(), managementAddress(m_nodes - 1));
}

Result<void> NetworkLab::setDataLink(bool up) {
    RM_RETURN_IF_ERROR(ip("-n " + node(0) + " link set data0 " + (up ? "up" : "down")));
    return up ? waitForAnswer(node(0), dataAddress(1)) : Result<void>();
}

Result<void> NetworkLab::addInterface(int index, const QString& name, const QString& address) {
    const QString on = "-n " + node(index) + ' ';
    // Its other end is up as well, or it would have no carrier.
    return ipAll({on + "link add " + name + " type veth peer name " + name + "-end",
                  on + "link set " + name + "-end up", on + "link set " + name + " up",
                  on + "addr add " + address + " dev " + name});
}

Result<void> NetworkLab::addAddress(int index, const QString& interface, const QString& address) {
    const QString kind = address.contains(':') ? " nodad" : "";
    return ip("-n " + node(index) + " addr add " + address + " dev " + interface + kind);
}

Result<void> NetworkLab::setDataAddresses(int index, const QStringList& addresses) {
    RM_RETURN_IF_ERROR(ip("-n " + node(index) + " -4 addr flush dev data0"));
    for (const QString& address : addresses)
        RM_RETURN_IF_ERROR(addAddress(index, "data0", address));
    return {};
}

/// The table of the node's own addresses comes behind such rules, else they would not be asked.
Result<void> NetworkLab::setDropRule(int index, const QString& what, bool drops) {
    const QString rule = "pref 10 iif data0 ipproto tcp " + what + " blackhole";
    QStringList commands;
    for (const char* family : {"-4", "-6"}) {
        const QString on = QString(family) + " -n " + node(index) + " rule ";
        if (drops)
            commands << on + "add pref 20 lookup local" << on + "del pref 0" << on + "add " + rule;
        else
            commands << on + "del " + rule << on + "add pref 0 lookup local"
                     << on + "del pref 20 lookup local";
    }
    return ipAll(commands);
}

Result<void> NetworkLab::dropConnectionsTo(int index, bool drops) {
    // Without connection tracking: the other node's own connections get ports of their own, in
    // which no listener of it looks for one.
    const QString ports = drops ? "20000 39999" : "32768 60999";
    const QString reserved = drops ? "20000-38999" : "";
    const QString folder = "/proc/sys/net/ipv4/ip_local_";
    RM_RETURN_IF_ERROR(runIn(node(1 - index), "echo '" + ports + "' > " + folder +
                                                  "port_range; echo '" + reserved + "' > " +
                                                  folder + "reserved_ports"));
    return setDropRule(index, "sport 39000-39999", drops);
}

Result<void> NetworkLab::dropPort(int index, int port, bool drops) {
    return setDropRule(index, QStringLiteral("dport %1").arg(port), drops);
}

Result<void> NetworkLab::loseLargePacketsTo(int index) {
    // The router would say so, but what it sends itself goes nowhere.
    return ipAll({"-n " + router() + QStringLiteral(" link set port%1 mtu 1300").arg(index),
                  "-n " + router() + " rule add pref 5 iif lo blackhole"});
}

void NetworkLab::killAllOn(int index) {
    for (const SeenProcess& process : processesIn(node(index)))
        ::kill(process.pid, SIGKILL);
}

int64_t NetworkLab::managementBytesTo(int index) const {
    const auto text = ipOutput("-n " + node(index) + " -s -j link show mgmt0");
    if (!text)
        return -1;
    const QJsonValue link = QJsonDocument::fromJson(*text).array().first();
    return link["stats64"]["rx"]["bytes"].toInteger(-1);
}

QStringList NetworkLab::commandIn(const QString& space, const QStringList& command) {
    return QStringList{"ip", "netns", "exec", space} + command;
}

std::vector<SeenProcess> NetworkLab::processesIn(const QString& space) {
    struct stat wanted = {};
    if (::stat(qPrintable(kNamespaceDir + QLatin1Char('/') + space), &wanted) != 0)
        return {};
    std::vector<SeenProcess> seen;
    for (const QString& name : QDir("/proc").entryList({"[0-9]*"}, QDir::Dirs)) {
        struct stat found = {};
        const pid_t pid = name.toInt();
        if (::stat(qPrintable("/proc/" + name + "/ns/net"), &found) == 0 &&
            found.st_ino == wanted.st_ino && found.st_dev == wanted.st_dev && !isGone(pid))
            seen.push_back({pid, commandLineOf(pid)});
    }
    return seen;
}

Result<EnteredSpace> EnteredSpace::enter(const QString& space) {
    const std::string place = (kNamespaceDir + QLatin1Char('/') + space).toStdString();
    RM_ASSIGN_OR_RETURN(auto own, openFile("/proc/self/ns/net", O_RDONLY));
    RM_ASSIGN_OR_RETURN(const auto other, openFile(place, O_RDONLY));
    if (::setns(other.get(), CLONE_NEWNET) != 0)
        return failErrno("enter " + place, errno);
    return EnteredSpace(std::move(own));
}

EnteredSpace::~EnteredSpace() {
    if (m_own && ::setns(m_own.get(), CLONE_NEWNET) != 0)
        qFatal("leave a network namespace: %s", std::strerror(errno));
}

} // namespace rm
