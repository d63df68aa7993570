// SPDX-License-Identifier: Apache-2.0
#include "tests/support/slurm.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "tests/support/free_port.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QHostInfo>
#include <QProcessEnvironment>
#include <QRandomGenerator>
#include <QRegularExpression>
#include <QTest>

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>

namespace rm {
namespace {

constexpr int kUpMs = 90000; // of a machine on which other tests run
const QStringList kPrograms = {"/usr/sbin/munged", "/usr/sbin/slurmctld", "/usr/sbin/slurmd",
                               "/usr/bin/srun", "/usr/bin/sbatch"};

QString textOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

QByteArray randomKey() {
    QByteArray key(128, '\0');
    for (char& byte : key)
        byte = static_cast<char>(QRandomGenerator::system()->bounded(256));
    return key;
}

QString nodeName(int node) {
    return "n" + QString::number(node + 1);
}

std::vector<pid_t> childrenOf(pid_t parent) {
    std::vector<pid_t> children;
    for (const QString& name : QDir("/proc").entryList({"[0-9]*"}, QDir::Dirs)) {
        const QString stat = textOf("/proc/" + name + "/stat");
        const QStringList fields = stat.mid(stat.lastIndexOf(')') + 2).split(' ');
        if (fields.size() > 1 && fields[1].toInt() == parent)
            children.push_back(name.toInt());
    }
    return children;
}

void killTree(pid_t root) {
    ::kill(root, SIGSTOP); // so that nothing new is started meanwhile
    for (const pid_t child : childrenOf(root))
        killTree(child);
    ::kill(root, SIGKILL);
}

/// The steps' daemons are no children of the slurmd that started them; they carry its node's name.
void killSteps(const QString& spool) {
    for (const QString& name : QDir("/proc").entryList({"[0-9]*"}, QDir::Dirs)) {
        const QString command = textOf("/proc/" + name + "/cmdline");
        const QString place = QFileInfo("/proc/" + name + "/cwd").symLinkTarget();
        if (command.startsWith("slurmstepd") && place.startsWith(spool))
            killTree(name.toInt());
    }
}

} // namespace

Result<void> canRunSlurm() {
    if (::geteuid() != 0)
        return fail(ErrorCode::kDenied, "run slurmd: only root may");
    for (const QString& program : kPrograms)
        if (!QFileInfo(program).isExecutable())
            return fail(ErrorCode::kNotFound,
                        "run " + program.toStdString() + ": slurm-wlm or munge is not installed");
    return canMountOwnFiles();
}

Result<std::unique_ptr<SlurmCluster>> SlurmCluster::start() {
    std::unique_ptr<SlurmCluster> cluster(new SlurmCluster);
    RM_RETURN_IF_ERROR(cluster->prepare());
    RM_RETURN_IF_ERROR(cluster->launch());
    return cluster;
}

Result<void> SlurmCluster::prepare() {
    const QString folder = m_dir.path();
    for (const char* name : {"munge", "state", "n1", "n2", "n3"})
        QDir(folder).mkpath(name);
    // munged refuses a key and a socket in places that others may change.
    QFile::setPermissions(m_dir.filePath("munge"), QFile::ReadOwner | QFile::WriteOwner |
                                                       QFile::ExeOwner | QFile::ReadGroup |
                                                       QFile::ExeGroup | QFile::ReadOther |
                                                       QFile::ExeOther);
    const QByteArray key = randomKey();
    RM_RETURN_IF_ERROR(writeFileAtomically(m_dir.filePath("munge/key").toStdString(),
                                           {key.constData(), static_cast<size_t>(key.size())}));
    QFile::setPermissions(m_dir.filePath("munge/key"), QFile::ReadOwner | QFile::WriteOwner);
    QStringList lines;
    lines << "ClusterName=test"
          << "SlurmctldHost=localhost(127.0.0.1)"
          << "SlurmctldPort=" + QString::number(test::freePort()) << "SlurmUser=root"
          << "SlurmdUser=root"
          << "AuthType=auth/munge"
          << "AuthInfo=socket=" + m_dir.filePath("munge/socket") + ",cred_expire=5"
          << "StateSaveLocation=" + m_dir.filePath("state") << "SlurmdSpoolDir=" + folder + "/%n"
          << "SlurmctldPidFile=" + m_dir.filePath("slurmctld.pid")
          << "SlurmdPidFile=" + folder + "/%n.pid"
          << "ProctrackType=proctrack/linuxproc"
          << "TaskPlugin=task/none"
          << "GresTypes=gpu"
          << "SelectType=select/cons_tres"
          << "SelectTypeParameters=CR_CPU"
          << "SchedulerType=sched/backfill"
          << "SchedulerParameters=sched_interval=1,bf_interval=1,sched_min_interval=0"
          << "ReturnToService=2"
          << "SlurmdParameters=config_overrides"
          << "PreemptType=preempt/partition_prio"
          << "PreemptMode=REQUEUE"
          << "KillWait=10"
          << "MpiDefault=none"
          << "SwitchType=switch/none"
          << "AccountingStorageType=accounting_storage/none"
          << "JobAcctGatherType=jobacct_gather/none";
    for (int node = 0; node < 3; ++node)
        lines << QStringLiteral("NodeName=%1 NodeHostname=localhost NodeAddr=127.0.0.1 Port=%2 "
                                "CPUs=4 RealMemory=4000 State=UNKNOWN%3")
                     .arg(nodeName(node))
                     .arg(test::freePort())
                     .arg(node == 2 ? " Gres=gpu:v100:2" : "");
    lines << "PartitionName=main Nodes=n1,n2 Default=YES MaxTime=INFINITE State=UP PriorityTier=1"
          << "PartitionName=urgent Nodes=n1,n2 MaxTime=INFINITE State=UP PriorityTier=10"
          << "PartitionName=v100 Nodes=n3 MaxTime=INFINITE State=UP PriorityTier=1";
    // Without a file for each, a node would report none of them.
    const std::string gpus = m_dir.filePath("gpu").toStdString();
    for (const char* number : {"0", "1"})
        RM_RETURN_IF_ERROR(writeFileAtomically(gpus + number, ""));
    RM_RETURN_IF_ERROR(
        writeFileAtomically(m_dir.filePath("gres.conf").toStdString(),
                            "NodeName=n3 Name=gpu Type=v100 File=" + gpus + "[0-1]\n"));
    return writeFileAtomically(configuration().toStdString(),
                               (lines.join('\n') + '\n').toStdString());
}

Result<void> SlurmCluster::spawn(QProcess& process, const QString& name, QStringList command) {
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("SLURM_CONF", configuration());
    process.setProcessEnvironment(environment);
    process.setProcessChannelMode(QProcess::MergedChannels);
    process.setStandardOutputFile(m_dir.filePath(name + ".log"), QIODevice::Append);
    process.setChildProcessModifier([] { ::prctl(PR_SET_PDEATHSIG, SIGTERM); });
    process.start(command.takeFirst(), command);
    if (process.waitForStarted(kUpMs))
        return {};
    return fail(ErrorCode::kUnavailable, "start " + name.toStdString());
}

Result<void> SlurmCluster::launch() {
    RM_RETURN_IF_ERROR(spawn(
        m_munge, "munged",
        {"/usr/sbin/munged", "--foreground", "--force", "--num-threads=2",
         "--key-file=" + m_dir.filePath("munge/key"), "--socket=" + m_dir.filePath("munge/socket"),
         "--pid-file=" + m_dir.filePath("munge/pid"), "--log-file=" + m_dir.filePath("munge/log"),
         "--seed-file=" + m_dir.filePath("munge/seed")}));
    if (!QTest::qWaitFor([this] { return QFileInfo::exists(m_dir.filePath("munge/socket")); },
                         kUpMs))
        return fail(ErrorCode::kUnavailable, "start munged: " + logs().toStdString());
    RM_RETURN_IF_ERROR(spawn(m_control, "slurmctld", {"/usr/sbin/slurmctld", "-D"}));
    for (int node = 0; node < 3; ++node)
        RM_RETURN_IF_ERROR(launchNode(node));
    return awaitIdle();
}

/// Each node knows the names of all, as those of a cluster do.
Result<void> SlurmCluster::launchNode(int node) {
    const OwnFile hosts{"/etc/hosts", "127.0.0.1 localhost n1 n2 n3 " +
                                          QHostInfo::localHostName().toLocal8Bit() + "\n"};
    RM_ASSIGN_OR_RETURN(auto command,
                        commandSeeing({hosts}, m_dir.filePath("files-" + nodeName(node)),
                                      {"/usr/sbin/slurmd", "-D", "-N", nodeName(node)}));
    return spawn(m_nodes[node], "slurmd-" + nodeName(node), std::move(command));
}

Result<void> SlurmCluster::awaitIdle() {
    const bool isUp = QTest::qWaitFor(
        [this] {
            const auto states = ask({"sinfo", "-h", "-N", "-p", "main,v100", "-o", "%t"});
            return states && states->count("idle") == 3;
        },
        kUpMs);
    return isUp ? Result<void>()
                : fail(ErrorCode::kUnavailable, "start Slurm: " + logs().toStdString());
}

Result<QString> SlurmCluster::ask(const QStringList& command, int limitMs) const {
    QProcess process;
    QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
    environment.insert("SLURM_CONF", configuration());
    process.setProcessEnvironment(environment);
    process.start(command.front(), command.mid(1));
    const bool isOver = process.waitForFinished(limitMs);
    if (isOver && process.exitStatus() == QProcess::NormalExit && process.exitCode() == 0)
        return QString::fromUtf8(process.readAllStandardOutput()).trimmed();
    return fail(ErrorCode::kUnavailable,
                (command.join(' ') + ": " + QString::fromUtf8(process.readAllStandardError()))
                    .toStdString());
}

QString SlurmCluster::jobField(const QString& job, const QString& field) const {
    const QString text = ask({"scontrol", "-o", "show", "job", job}).value_or("");
    const auto match = QRegularExpression("\\b" + field + "=(\\S*)").match(text);
    return match.captured(1);
}

QStringList SlurmCluster::jobs() const {
    return ask({"squeue", "-h", "-o", "%i"}).value_or("").split('\n', Qt::SkipEmptyParts);
}

Result<void> SlurmCluster::failNode(int node) {
    killTree(static_cast<pid_t>(m_nodes[node].processId()));
    killSteps(m_dir.filePath(nodeName(node)));
    m_nodes[node].waitForFinished(kUpMs);
    return ask({"scontrol", "update", "nodename=" + nodeName(node), "state=down", "reason=test"})
        .map([](const QString&) {});
}

Result<void> SlurmCluster::restoreNode(int node) {
    RM_RETURN_IF_ERROR(launchNode(node));
    (void)ask({"scontrol", "update", "nodename=" + nodeName(node), "state=resume"});
    return awaitIdle();
}

QByteArray SlurmCluster::logs() const {
    QByteArray text;
    for (const char* name : {"munged", "slurmctld", "slurmd-n1", "slurmd-n2", "slurmd-n3"})
        text += QByteArray("\n== ") + name + "\n" +
                textOf(m_dir.filePath(QString(name) + ".log")).right(4000).toUtf8();
    return text;
}

SlurmCluster::~SlurmCluster() {
    if (const QStringList left = jobs(); !left.isEmpty())
        (void)ask(QStringList{"scancel", "--full", "--signal=KILL"} + left);
    if (const QStringList left = jobs(); !left.isEmpty())
        (void)ask(QStringList{"scancel"} + left);
    (void)!QTest::qWaitFor([this] { return jobs().isEmpty(); }, kUpMs);
    for (QProcess* daemon : {&m_nodes[0], &m_nodes[1], &m_nodes[2], &m_control, &m_munge}) {
        if (daemon->state() == QProcess::NotRunning)
            continue;
        daemon->terminate();
        if (!daemon->waitForFinished(kUpMs))
            daemon->kill();
    }
    for (int node = 0; node < 3; ++node)
        killSteps(m_dir.filePath(nodeName(node)));
}

} // namespace rm
