// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/host_worker.h"
#include "app/core/launch/run_trainer.h"
#include "app/core/launch/trial.h"
#include "app/core/remote/local_session.h"

#include <QDir>
#include <QFile>
#include <QTemporaryDir>
#include <QTest>

using namespace rm;
using namespace std::chrono_literals;

namespace {

/// A trainer that says what it was told.
constexpr const char* kTrainer = R"sh(#!/bin/sh
echo "GPUs $CUDA_VISIBLE_DEVICES, threads $OMP_NUM_THREADS, words $*, input $(cat)"
echo "$LD_LIBRARY_PATH$PYTHONPATH$RANK $NCCL_IB_HCA $NCCL_DEBUG $PATH"
)sh";

std::string agent() {
    return qEnvironmentVariable("RINGMASTER_BIN").toStdString() + "/ringmaster-agent";
}

} // namespace

/// What the trainer is asked on nodes without a run.
class TestTrial : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theTrainerSeesWhatRanksWouldSee() {
        const QTemporaryDir bundle;
        QVERIFY(QDir(bundle.path()).mkdir("bin"));
        QFile trainer(bundle.filePath("bin/ringmaster-trainer"));
        QVERIFY(trainer.open(QIODevice::WriteOnly) && trainer.write(kTrainer) > 0);
        trainer.close();
        QVERIFY(trainer.setPermissions(QFile::ReadOwner | QFile::WriteOwner | QFile::ExeOwner));
        // Of a profile; the last one is for ranks, too.
        for (const char* name : {"LD_LIBRARY_PATH", "PYTHONPATH", "RANK", "NCCL_DEBUG"})
            qputenv(name, "profile");
        NodePlan plan;
        plan.runId = "trial";
        plan.bundle = bundle.path().toStdString();
        plan.environment = {"CUDA_VISIBLE_DEVICES=GPU-b,GPU-c", "OMP_NUM_THREADS=3",
                            "NCCL_IB_HCA=^mlx5_1"};
        LocalSession session;
        const auto result =
            runTrainerOf(plan, session, agent(), {{"self-test", "--json"}, "the spec"}, 60s, {});
        for (const char* name : {"LD_LIBRARY_PATH", "PYTHONPATH", "RANK", "NCCL_DEBUG"})
            qunsetenv(name);
        QVERIFY2(result, result ? "" : result.error().message.c_str());
        QCOMPARE(*result, std::string("GPUs GPU-b,GPU-c, threads 3, words self-test --json, input "
                                      "the spec\n ^mlx5_1 profile /usr/local/bin:/usr/bin:/bin\n"));
    }

    void aTrainerThatIsNotThereIsNamed() {
        NodePlan plan;
        plan.runId = "trial";
        plan.bundle = "/nowhere";
        LocalSession session;
        const auto result = runTrainerOf(plan, session, agent(), {{"self-test"}, {}}, 60s, {});
        QVERIFY(!result);
        QCOMPARE(result.error().code, ErrorCode::kNotFound);
        QVERIFY2(result.error().message.ends_with(
                     "start /nowhere/bin/ringmaster-trainer: No such file or directory"),
                 result.error().message.c_str());
    }

    void aClusterIsRefusedByName_data() {
        QTest::addColumn<int>("kind");
        for (const TrialKind kind :
             {TrialKind::kSelfTest, TrialKind::kAllReduce, TrialKind::kStepProfile})
            QTest::newRow(trialName(kind)) << static_cast<int>(kind);
    }
    void aClusterIsRefusedByName() {
        QFETCH(int, kind);
        NodeTrial trial{static_cast<TrialKind>(kind), {{"leonardo", 0}}, {}};
        Node cluster;
        cluster.name = "leonardo";
        cluster.isSlurm = true;
        HostPool hosts([](const Node&) { return Credentials{}; });
        const auto result = runTrial(trial, {{cluster, 0}}, hosts, [](const Progress&) {}, {});
        QVERIFY(!result);
        QCOMPARE(result.error().code, ErrorCode::kInvalid);
        QVERIFY2(result.error().message.find("leonardo is a Slurm cluster") != std::string::npos,
                 result.error().message.c_str());
    }

    void aForecastIsOfTheRanksThatTheRunWouldHave() {
        RunSpec spec;
        spec.name = "x";
        spec.launch.interface = "eth1";
        const std::vector<Placement> nodes = {{"node-a", 4}, {"node-b", 0}};
        const NodeTrial step = stepProfileTrial(spec, nodes);
        QCOMPARE(step.nodes, std::vector<Placement>{nodes.front()});
        const NodeTrial links = linkTrial(spec, nodes);
        QCOMPARE(links.nodes, nodes);
        for (const NodeTrial& trial : {step, links})
            QCOMPARE(parseRunSpec(trial.spec, "the trial")->launch.interface,
                     spec.launch.interface);
    }
};

QTEST_GUILESS_MAIN(TestTrial)
#include "tst_trial.moc"
