// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_rows.h"
#include "app/core/fleet/nodes_file.h"
#include "app/core/launch/job_script.h"
#include "shared/spec/toml_fields.h"

#include <QProcess>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;

namespace {

JobOrder twoNodes() {
    JobOrder order;
    order.runId = "gpt-1a2b3c";
    order.agent = "/home/o'neil/agent";
    order.ranks = {4, 4};
    order.onGpus = true;
    order.runtime = "cuda13";
    order.cpusPerNode = 64;
    order.gpusPerNode = 8;
    return order;
}

bool hasLine(const std::string& script, const std::string& line) {
    return script.find("\n" + line + "\n") != std::string::npos;
}

} // namespace

/// What a Slurm cluster says and is told, without one; with one: tests/integration/tst_slurm.cpp.
class TestJobScript : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void asksForNodesGpusAndTheirShareOfProcessors() {
        const std::string script = jobScript(twoNodes());
        QVERIFY(script.starts_with("#!/bin/bash\n"));
        for (const char* line :
             {"#SBATCH --nodes=2", "#SBATCH --ntasks-per-node=1", "#SBATCH --gpus-per-node=4",
              "#SBATCH --cpus-per-task=32", "#SBATCH --requeue", "#SBATCH --open-mode=append",
              "#SBATCH --signal=USR1@120"})
            QVERIFY2(hasLine(script, line), script.c_str());
        QVERIFY2(script.find(" '/home/o'\\''neil/agent' in-job gpt-1a2b3c\n") != script.npos,
                 script.c_str());
    }

    void aRunOnProcessorsTakesWholeNodes() {
        JobOrder order = twoNodes();
        order.onGpus = false;
        const std::string script = jobScript(order);
        QVERIFY(hasLine(script, "#SBATCH --cpus-per-task=64"));
        QVERIFY(script.find("gpus") == script.npos);
    }

    void theRuntimeIsSaidAndForWhichGpus() {
        JobOrder order = twoNodes();
        QVERIFY(hasLine(jobScript(order),
                        "# The trainer is that of cuda13, as Slurm does not say what its GPUs are; "
                        "the agents end the job if it does not run on them. launch.runtime chooses "
                        "another."));
        order.gpu = "a100";
        QVERIFY(hasLine(jobScript(order), "# The trainer is that of cuda13, for GPUs a100. "
                                          "launch.runtime chooses another."));
        order.onGpus = false;
        QVERIFY(jobScript(order).find("cuda13") == std::string::npos);
    }

    void memoryThatIsNotAskedForIsSaid() {
        JobOrder order = twoNodes();
        order.memoryMb = 512000;
        QVERIFY(hasLine(jobScript(order),
                        "# No memory is asked for: the job gets what its partition "
                        "gives by default; its nodes have up to 512000 MB."));
        order.options = {"--mem=64G"};
        QVERIFY(jobScript(order).find("No memory") == std::string::npos);
    }

    void theMemoryOfANodeIsWhatIsAskedForOrAllOfIt() {
        JobOrder order = twoNodes();
        QCOMPARE(bytesOnNode(order), int64_t{0});
        order.memoryMb = 4000;
        const auto with = [&order](const std::string& option) {
            order.options = {"--mem=1", option};
            return bytesOnNode(order);
        };
        QCOMPARE(bytesOnNode(order), int64_t{4000} << 20);
        QCOMPARE(with("--mem=300"), int64_t{300} << 20);
        QCOMPARE(with("--mem 64G"), int64_t{64} << 30);
        QCOMPARE(with("--mem=2T"), int64_t{2} << 40);
        for (const char* other : {"--mem=0", "--mem=", "--mem", "--mem-per-cpu=2G", "--mem=2X"})
            QCOMPARE(with(other), int64_t{1} << 20);
    }

    void whatRingmasterSetsItselfIsRefused() {
        for (const char* good : {"--time=4:00:00", "-p gpu", "--nodelist=n1", "--account=a",
                                 "-C a100", "--ntasks-per-core=1"})
            QCOMPARE(sbatchMistake(good), std::string());
        for (const char* own : {"--nodes=2", "-N2", "-n 4", "--ntasks 4", "--array=1-3", "-Jx",
                                "--job-name=x", "-o log", "--wait"})
            QVERIFY2(sbatchMistake(own).find("leave nodes, tasks") != std::string::npos, own);
        for (const char* bad : {"", "-", "time=1", "--a\n--b"})
            QVERIFY2(sbatchMistake(bad).find("one line that begins with -") != std::string::npos,
                     bad);
        RunSpec spec;
        spec.launch.sbatch = {"account=mine"};
        const auto checked = check(spec);
        QVERIFY(!checked);
        QVERIFY2(checked.error().message.find("launch.sbatch holds \"account=mine\", but an option "
                                              "for sbatch must be one line that begins with -") !=
                     std::string::npos,
                 checked.error().message.c_str());
    }

    void linesOfTheRunComeBeforeItsAgents() {
        JobOrder order = twoNodes();
        order.setup = {"module load cuda", "export A=\"$HOME\" \\"};
        const std::string script = jobScript(order);
        QVERIFY2(script.find("\nmodule load cuda\nexport A=\"$HOME\" \\\n\ntrap ") != script.npos,
                 script.c_str());
        QVERIFY(script.rfind("#SBATCH") < script.find("module load"));
        RunSpec spec;
        for (const char* bad : {"", " \t", "a\nb", "#SBATCH --time=1", "#SRUN --mpi=none"}) {
            spec.launch.jobSetup = {bad};
            const auto checked = check(spec);
            QVERIFY2(!checked && checked.error().message.find("launch.job_setup holds") !=
                                     std::string::npos,
                     bad);
        }
        QCOMPARE(jobSetupMistake("source ~/.profile # mine"), std::string());
    }

    void optionsOfTheStepComeBehindItsOwn() {
        JobOrder order = twoNodes();
        order.step = {"--mpi=none", "--container-image=\"$HOME/a b.sqsh\""};
        const std::string script = jobScript(order);
        QVERIFY2(script.find(" --kill-on-bad-exit=0 --mpi=none --container-image=\"$HOME/a "
                             "b.sqsh\" \\\n    '/home/o") != script.npos,
                 script.c_str());
        for (const char* good : {"--mpi=pmix", "-u", "--output=step-%t.log", "--exact", "-p gpu"})
            QCOMPARE(srunMistake(good), std::string());
        for (const char* own : {"--nodes=2", "-N2", "-n 4", "--ntasks-per-node=2", "-K",
                                "--kill-on-bad-exit=1", "-W1", "--multi-prog"})
            QVERIFY2(srunMistake(own).find("leave nodes, tasks") != std::string::npos, own);
        RunSpec spec;
        spec.launch.srun = {"mpi=none"};
        const auto checked = check(spec);
        QVERIFY(!checked);
        QVERIFY2(checked.error().message.find("launch.srun holds \"mpi=none\", but an option for "
                                              "srun must be one line that begins with -") !=
                     std::string::npos,
                 checked.error().message.c_str());
    }

    void optionsOfClusterAndRunStandInForItsOwn_data() {
        QTest::addColumn<QString>("given");
        QTest::addColumn<QString>("own");
        QTest::newRow("signal") << "--signal=USR1@300"
                                << "--signal=";
        QTest::newRow("processors") << "--cpus-per-task=8"
                                    << "--cpus-per-task=32";
        QTest::newRow("processors, short") << "-c8"
                                           << "--cpus-per-task=32";
        QTest::newRow("processors by GPU") << "--cpus-per-gpu 8"
                                           << "--cpus-per-task=32";
        QTest::newRow("no requeue") << "--no-requeue"
                                    << "--requeue";
        QTest::newRow("log") << "--open-mode=truncate"
                             << "--open-mode=append";
        QTest::newRow("GPUs") << "--gpus-per-node=a100:4"
                              << "--gpus-per-node=4";
        QTest::newRow("GPUs by --gres") << "--gres=gpu:a100:4"
                                        << "--gpus-per-node";
        QTest::newRow("GPUs among others") << "--gres=nvme:1,gpu:4"
                                           << "--gpus-per-node";
        QTest::newRow("GPUs, short") << "-G 8"
                                     << "--gpus-per-node";
        QTest::newRow("GPUs by task") << "--gpus-per-task=4"
                                      << "--gpus-per-node";
        QTest::newRow("none") << "--gres=none"
                              << "--gpus-per-node";
    }

    void optionsOfClusterAndRunStandInForItsOwn() {
        QFETCH(QString, given);
        QFETCH(QString, own);
        JobOrder order = twoNodes();
        QVERIFY(QString::fromStdString(jobScript(order)).contains("#SBATCH " + own));
        order.options = {"--partition=gpu", given.toStdString()};
        const QString script = QString::fromStdString(jobScript(order));
        QVERIFY(script.contains("#SBATCH --partition=gpu\n"));
        QCOMPARE(script.count("#SBATCH " + given + "\n"), 1);
        const auto times =
            QString(script).remove("#SBATCH " + given + "\n").count("#SBATCH " + own);
        QVERIFY2(times == 0, qPrintable(script));
        QCOMPARE(script.contains("--cpus-per-task=\"${SLURM_CPUS_PER_TASK:-32}\" "),
                 !given.startsWith("--cpus-per-gpu"));
    }

    void otherOptionsStandBesideItsOwn() {
        JobOrder order = twoNodes();
        for (const char* other : {"--gres=nvme:1", "--gpu-bind=closest", "--cpus-per-taskx", "-",
                                  "--gres=gpux:1", "--signal-x"}) {
            order.options = {other};
            const std::string script = jobScript(order);
            for (const char* own : {"#SBATCH --gpus-per-node=4", "#SBATCH --cpus-per-task=32",
                                    "#SBATCH --signal=USR1@120", "#SBATCH --requeue"})
                QVERIFY2(hasLine(script, own), script.c_str());
        }
    }

    /// By a shell, with programs that only say how they were called.
    void theScriptIsAShellsAndRequeuesWhenTheRunGoesOn_data() {
        QTest::addColumn<int>("agents");
        QTest::addColumn<QByteArray>("state");
        QTest::addColumn<int>("script");
        QTest::addColumn<QString>("said");
        QTest::newRow("finished") << 0 << QByteArray("RUNNING None") << 0 << "";
        QTest::newRow("failed") << 1 << QByteArray("RUNNING None") << 1 << "";
        QTest::newRow("goes on") << 75 << QByteArray("RUNNING None") << 0 << "requeue 12\n";
        QTest::newRow("late") << 75 << QByteArray("COMPLETING TimeLimit") << 0 << "requeue 12\n";
        QTest::newRow("no answer") << 75 << QByteArray() << 0 << "requeue 12\n";
        QTest::newRow("cancelled") << 75 << QByteArray("COMPLETING None") << 0 << "";
    }

    void theScriptIsAShellsAndRequeuesWhenTheRunGoesOn() {
        QFETCH(int, agents);
        QFETCH(QByteArray, state);
        QFETCH(int, script);
        QFETCH(QString, said);
        const QTemporaryDir folder;
        const auto write = [&](const QString& name, const QByteArray& text) {
            QFile file(folder.filePath(name));
            QVERIFY(file.open(QIODevice::WriteOnly));
            file.write(text);
            file.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner);
        };
        write("srun", "#!/bin/sh\nexit " + QByteArray::number(agents) + "\n");
        write("squeue", "#!/bin/sh\necho " + state + "\n");
        write("scontrol", "#!/bin/sh\necho \"$@\"\n");
        write("job.sh", QByteArray::fromStdString(jobScript(twoNodes())));
        QProcess shell;
        QProcessEnvironment environment = QProcessEnvironment::systemEnvironment();
        environment.insert("PATH", folder.path() + ":" + environment.value("PATH"));
        environment.insert("SLURM_JOB_ID", "12");
        shell.setProcessEnvironment(environment);
        shell.start(folder.filePath("job.sh"), QStringList());
        QVERIFY(shell.waitForFinished());
        QCOMPARE(shell.exitCode(), script);
        QCOMPARE(QString(shell.readAllStandardOutput()), said);
    }

    void ranksAreSpreadOverNodes() {
        QCOMPARE(ranksByNode(0, 8), std::vector<int>{8});
        QCOMPARE(ranksByNode(4, 8), std::vector<int>{4});
        QCOMPARE(ranksByNode(16, 8), (std::vector<int>{8, 8}));
        QCOMPARE(ranksByNode(9, 4), (std::vector<int>{4, 4, 1}));
    }

    void partitionsAreReadAndJudged() {
        const auto report = parseSlurmReport("slurm-wlm 22.05.8\n"
                                             "main*|up|infinite|2|idle|4|4000|(null)\n"
                                             "main*|up|infinite|1|mix|4+|4000|(null)\n"
                                             "gpu|up|1-00:00:00|3|idle|64|512000|gpu:a100:4(S:0)\n"
                                             "gpu|up|1-00:00:00|1|idle*|64|512000|gpu:a100:4\n"
                                             "old|down|4:00|1|idle|8|1000|gpu:2,nvme:1\n"
                                             "a login banner\n");
        QVERIFY(report);
        QCOMPARE(report->version, std::string("22.05.8"));
        QCOMPARE(report->partitions.size(), size_t{3});
        QCOMPARE(*partitionCalled(*report, ""),
                 (SlurmPartition{"main", true, true, "infinite", 3, 2, 4, 4000, 0, ""}));
        QCOMPARE(*partitionCalled(*report, "gpu"),
                 (SlurmPartition{"gpu", false, true, "1-00:00:00", 4, 3, 64, 512000, 4, "a100"}));
        QCOMPARE(partitionCalled(*report, "old")->gpusPerNode, 2);
        QCOMPARE(partitionCalled(*report, "old")->gpu, std::string());
        QVERIFY(!partitionCalled(*report, "none"));
        const auto verdict = [&](const char* wanted) {
            return rowsOfSlurm(*report, wanted).front().state;
        };
        QCOMPARE(verdict(""), CheckRow::State::kGood);
        QCOMPARE(verdict("old"), CheckRow::State::kBad);
        QCOMPARE(verdict("none"), CheckRow::State::kBad);
        QCOMPARE(rowsOfSlurm(*report, "gpu")[2].evidence,
                 std::string("3 of 4 nodes idle, 64 processors and 4 GPUs (a100) on each, time "
                             "limit 1-00:00:00"));
        QVERIFY(!parseSlurmReport("bash: sinfo: command not found\n"));
    }

    void jobsAreRead() {
        QCOMPARE(*parseSlurmJob("12|PENDING|Resources|main||2026-11-25T06:40:00\n"),
                 (SlurmJob{"12", "PENDING", "Resources", "main", "", "2026-11-25T06:40:00"}));
        QVERIFY(!parseSlurmJob("slurm_load_jobs error: Invalid job id specified"));
        QCOMPARE(phaseOf("PENDING"), SlurmPhase::kWaiting);
        QCOMPARE(phaseOf("COMPLETING"), SlurmPhase::kRunning);
        for (const char* over : {"COMPLETED", "FAILED", "TIMEOUT", "CANCELLED", "NODE_FAIL", "NEW"})
            QCOMPARE(phaseOf(over), SlurmPhase::kOver);
    }

    void clustersAreKeptInTheListOfNodes() {
        const std::string text = "[[node]]\nname = \"far\"\nhost = \"login\"\nslurm = true\n"
                                 "sbatch = [\"--partition=gpu\", \"--account=a\"]\n"
                                 "[[node]]\nname = \"here\"\nslurm = true\n";
        const auto nodes = parseNodes(text, "nodes.toml");
        QVERIFY2(nodes, nodes ? "" : nodes.error().message.c_str());
        QVERIFY(!nodes->nodes[0].isLocal && nodes->nodes[1].isLocal);
        QCOMPARE(partitionOf(nodes->nodes[0].sbatch), std::string("gpu"));
        QCOMPARE(partitionOf({"-p a,b"}), std::string("a"));
        QCOMPARE(partitionOf({"--partition=a", "-pb"}), std::string("b"));
        QCOMPARE(parseNodes(toToml(*nodes), "again")->nodes, nodes->nodes);
        for (const char* bad :
             {"[[node]]\nname = \"x\"\n", "[[node]]\nname = \"x\"\nhost=\"h\"\nslurm = 1\n",
              "[[node]]\nname = \"x\"\nslurm = true\nsbatch = [\"partition\"]\n",
              "[[node]]\nname = \"x\"\nhost = \"h\"\nsbatch = [\"--time=1\"]\n"})
            QVERIFY(!parseNodes(bad, "nodes.toml"));
    }
};

QTEST_GUILESS_MAIN(TestJobScript)
#include "tst_job_script.moc"
