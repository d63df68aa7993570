// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/job_place.h"

#include <QTest>

using namespace rm;

namespace {

constexpr const char* kSinfo = "slurm-wlm 22.05.8\n"
                               "main*|up|infinite|2|idle|64|4000|(null)\n"
                               "gpu|up|1-00:00:00|4|idle|32|512000|gpu:a100:4(S:0)\n"
                               "old|up|infinite|2|idle|32|64000|gpu:Tesla_V100-SXM2-32GB:4\n"
                               "own|up|infinite|2|idle|32|64000|gpu:fast:4\n"
                               "mixed|up|infinite|2|idle|32|64000|gpu:a100:4\n"
                               "mixed|up|infinite|2|idle|32|64000|gpu:v100:8\n";

SlurmPartition partitionFor(const std::vector<std::string>& ofCluster,
                            const std::vector<std::string>& ofRun) {
    Node cluster;
    cluster.sbatch = ofCluster;
    RunSpec spec;
    spec.launch.sbatch = ofRun;
    return partitionOfJob(cluster, spec, *parseSlurmReport(kSinfo)).value_or(SlurmPartition());
}

/// Of a login node of four processors, without a GPU.
PlacedNode clusterAt(const SlurmPartition& partition,
                     const std::vector<std::string>& options = {}) {
    PlacedNode cluster;
    cluster.node.name = "cluster";
    cluster.node.isSlurm = true;
    cluster.report.cores = 4;
    cluster.report.home = "/home/me/.ringmaster";
    cluster.report.runs = {{"gpt-2", "gpt", 1, 2}};
    cluster.report = reportInJob(cluster.report, partition, options);
    return cluster;
}

/// Whatever runtimes this installation has.
bool isAnywhere(const Runtime&) {
    return true;
}

std::vector<int> ranksOf(const SlurmPartition& partition, int ranks, const char* device) {
    return ranksInJob({}, clusterAt(partition), ranks, device, partition)
        .value_or(std::vector<int>());
}

} // namespace

/// What a launch on a Slurm cluster is judged by before there is a job.
class TestJobPlace : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theRunNamesThePartitionElseTheClusterElseSlurm() {
        QCOMPARE(partitionFor({}, {}).name, std::string("main"));
        QCOMPARE(partitionFor({"--partition=gpu"}, {}).name, std::string("gpu"));
        QCOMPARE(partitionFor({"--partition=gpu"}, {"-p main"}).name, std::string("main"));
    }

    void aPartitionThatIsNotThereIsNamedWithThoseThatAre() {
        Node cluster;
        cluster.sbatch = {"--partition=fast"};
        const auto refused = partitionOfJob(cluster, {}, *parseSlurmReport(kSinfo));
        QVERIFY(!refused);
        QCOMPARE(
            refused.error().message,
            std::string("its Slurm has no partition fast; there are: main, gpu, old, own, mixed"));
    }

    void aLoginNodeWithoutGpusLaunchesOnThoseOfItsPartition() {
        RunSpec spec;
        spec.launch.device = "cuda";
        const auto refused = chooseTarget(spec, {clusterAt(partitionFor({}, {}))});
        QVERIFY(!refused);
        const SlurmPartition gpu = partitionFor({"-p gpu"}, {});
        const PlacedNode cluster = clusterAt(gpu);
        QCOMPARE(cluster.report.home, std::string("/home/me/.ringmaster"));
        QVERIFY(cluster.report.runs.empty());
        const auto target = chooseTarget(spec, {cluster});
        QVERIFY2(target, target ? "" : target.error().message.c_str());
        QCOMPARE(target->device, std::string("cuda"));
        QCOMPARE(chooseTarget(RunSpec(), {cluster}, isAnywhere)->device, std::string("cuda"));
        QCOMPARE(ranksOf(gpu, 8, "cuda"), (std::vector<int>{4, 4}));
        QCOMPARE(ranksOf(gpu, 0, "cuda"), std::vector<int>{4});
        QVERIFY(ranksOf(gpu, 17, "cuda").empty());
    }

    /// As far as the name of the model tells.
    void theRuntimeIsOneForTheGpusOfThePartition_data() {
        QTest::addColumn<QString>("partition");
        QTest::addColumn<QString>("option");
        QTest::addColumn<int>("capability");
        QTest::addColumn<QString>("runtime");
        QTest::newRow("A100") << "gpu"
                              << "--time=1" << 80 << "cuda13";
        QTest::newRow("V100") << "old"
                              << "--time=1" << 70 << "cuda12";
        QTest::newRow("a name of its own") << "own"
                                           << "--time=1" << 0 << "cuda13";
        QTest::newRow("several kinds") << "mixed"
                                       << "--time=1" << 0 << "cuda13";
        QTest::newRow("one of them by --gres") << "mixed"
                                               << "--gres=gpu:v100:4" << 70 << "cuda12";
        QTest::newRow("the other") << "mixed"
                                   << "--gpus-per-node=a100:4" << 80 << "cuda13";
        QTest::newRow("any of them") << "mixed"
                                     << "-G 4" << 0 << "cuda13";
    }
    void theRuntimeIsOneForTheGpusOfThePartition() {
        QFETCH(QString, partition);
        QFETCH(QString, option);
        const PlacedNode cluster =
            clusterAt(partitionFor({"-p " + partition.toStdString()}, {}), {option.toStdString()});
        QTEST(cluster.report.gpus.front().computeCapability, "capability");
        const auto target = chooseTarget({}, {cluster}, isAnywhere);
        QVERIFY2(target, target ? "" : target.error().message.c_str());
        QTEST(QString::fromStdString(target->runtime), "runtime");
        RunSpec spec;
        spec.train.precision = "bfloat16";
        QCOMPARE(checkPrecision(spec, {cluster}).has_value(), target->runtime != "cuda12");
    }

    void processorsAreThoseOfThePartition() {
        const SlurmPartition main = partitionFor({}, {});
        RunSpec spec;
        spec.launch.ranks = 32;
        QCOMPARE(*ranksInJob(spec, clusterAt(main), 40, "cpu", main), (std::vector<int>{32, 8}));
        const auto refused = ranksInJob(spec, clusterAt(main), 65, "cpu", main);
        QVERIFY(!refused);
        QCOMPARE(refused.error().message,
                 std::string("place 65 ranks on cluster: with 32 on a node that is 3 nodes, and "
                             "its partition main has 2; launch.ranks says how many a node has"));
    }
};

QTEST_GUILESS_MAIN(TestJobPlace)
#include "tst_job_place.moc"
