// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/model_family.h"
#include "trainer/train/workloads/registry.h"

#include <QObject>
#include <QTest>

#include <ATen/CPUGeneratorImpl.h>

#include <cmath>
#include <set>

using namespace rm;

namespace {

/// Small, of the kind that `type` names; its data is not there.
RunSpec specOf(const std::string& type) {
    RunSpec spec;
    spec.model.type = type;
    spec.model.layers = 1;
    spec.model.heads = 2;
    spec.model.width = 16;
    spec.model.context = 8;
    spec.model.classes = 3;
    spec.model.imageSize = 32;
    spec.data.vocabSize = 64;
    return spec;
}

int64_t bytesOf(const Batch& batch) {
    int64_t bytes = 0;
    for (const at::Tensor& tensor : batch.tensors)
        bytes += static_cast<int64_t>(tensor.nbytes());
    return bytes;
}

} // namespace

/// Every family of models that the spec knows has its workload, whole.
class TestWorkloads : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyFamilyHasOneWorkload() {
        std::set<std::string_view> families, ours;
        for (const ModelFamily& family : modelFamilies())
            QVERIFY(families.insert(family.name).second);
        for (const Workload* workload : workloads())
            QVERIFY(ours.insert(workload->family()).second);
        QCOMPARE(ours, families);
    }

    void everyConfigIsReadByOneWorkload() {
        std::set<std::string_view> types;
        for (const Workload* workload : workloads())
            if (!workload->configType().empty())
                QVERIFY(types.insert(workload->configType()).second);
        QVERIFY(!types.empty());
    }

    void everyModelIsSizedImaginedAndMade_data() {
        QTest::addColumn<std::string>("type");
        for (const ModelFamily& family : modelFamilies())
            for (const std::string_view type : family.types)
                QTest::newRow(std::string(type).c_str()) << std::string(type);
    }
    void everyModelIsSizedImaginedAndMade() {
        QFETCH(std::string, type);
        const RunSpec spec = specOf(type);
        const Workload& workload = workloadOf(spec);
        const auto sizes = workload.dataSizes(spec);
        QVERIFY(sizes);
        QVERIFY(sizes->vocab > 0 || sizes->classes > 0);

        const World alone;
        const auto model = workload.makeModel(spec, *sizes, alone);
        QVERIFY(parameterCount(*model) > 0);
        model->initialize(at::detail::createCPUGenerator(3));
        const at::Tensor loss = model->loss(workload.imagineBatch(spec, 2), true);
        QVERIFY(loss.dim() == 0 && std::isfinite(loss.item<double>()));
        QVERIFY(model->configJson().starts_with("{"));
    }

    void aMicroBatchIsAKeyOfTheSpec_data() { everyModelIsSizedImaginedAndMade_data(); }
    void aMicroBatchIsAKeyOfTheSpec() {
        QFETCH(std::string, type);
        const RunSpec spec = specOf(type);
        const Workload& workload = workloadOf(spec);
        const MicroBatch batch = workload.microBatch(spec);
        QVERIFY(usesField(spec, batch.key));
        QVERIFY(batch.samples > 0 && batch.valueOfOne > 0 && workload.usesPerSample(spec) > 0);
        QVERIFY(workload.imagineBatch(spec, 4).targets > workload.imagineBatch(spec, 1).targets);
        for (const Batch& other : workload.imagineOtherShapes(spec, 4, 3))
            QVERIFY(bytesOf(other) <= 2 * bytesOf(workload.imagineBatch(spec, 4)));
    }

    void weightsOfNoModelAreRefused_data() { everyModelIsSizedImaginedAndMade_data(); }
    void weightsOfNoModelAreRefused() {
        QFETCH(std::string, type);
        const RunSpec spec = specOf(type);
        const auto model = workloadOf(spec).modelFor(spec, {}, {}, "nothing.safetensors");
        QVERIFY(!model);
        QVERIFY(model.error().message.find("nothing.safetensors") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestWorkloads)
#include "tst_workloads.moc"
