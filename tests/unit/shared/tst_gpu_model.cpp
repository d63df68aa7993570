// SPDX-License-Identifier: Apache-2.0
#include "shared/wire/gpu_model.h"

#include <QTest>

using namespace rm;

/// Names are of real clusters, and of what NVML calls the models.
class TestGpuModel : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theNameOfAModelTellsItsCapability_data() {
        QTest::addColumn<int>("capability");
        const auto add = [](int capability, const std::vector<const char*>& names) {
            for (const char* name : names)
                QTest::newRow(name) << capability;
        };
        add(37, {"k80"});
        add(60, {"p100", "tesla_p100-pcie-16gb"});
        add(61, {"gtx_1080_ti", "P4000", "quadro_p4000", "titan_xp"});
        add(70, {"v100", "V100-SXM2-32GB", "tesla_v100-sxm2-32gb", "v100s", "titan_v"});
        add(75, {"t4", "tesla_t4", "rtx2080ti", "quadro_rtx_6000", "rtx8000"});
        add(80, {"a100", "nvidia_a100-sxm4-80gb", "a100_1g.5gb", "a30"});
        add(86, {"a10", "a10g", "a40", "rtx_a6000", "nvidia_geforce_rtx_3090"});
        add(89, {"l4", "l40s", "rtx4090"});
        add(90, {"h100", "nvidia_h100_80gb_hbm3", "h200", "gh200_120gb"});
        add(100, {"b200", "gb200"});
        add(120, {"nvidia_rtx_pro_6000_blackwell", "rtx5090"});
    }
    void theNameOfAModelTellsItsCapability() {
        QFETCH(int, capability);
        QCOMPARE(capabilityOfModel(QTest::currentDataTag()), capability);
    }

    void otherNamesTellNothing() {
        for (const char* name : {"", "gpu", "turing", "mi250", "1g.5gb", "a1000", "v1000", "t400",
                                 "rtx6000", "rtx_6000_ada", "titan_x", "---", "\xff\x80"})
            QVERIFY2(capabilityOfModel(name) == 0, name);
    }
};

QTEST_APPLESS_MAIN(TestGpuModel)
#include "tst_gpu_model.moc"
