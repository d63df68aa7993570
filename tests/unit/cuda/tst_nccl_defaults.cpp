// SPDX-License-Identifier: Apache-2.0
#include "trainer/cuda/nccl_defaults.h"

#include <QTest>

#include <algorithm>

namespace {

std::string valueOf(const std::vector<std::pair<std::string, std::string>>& settings,
                    const std::string& name) {
    const auto found = std::find_if(settings.begin(), settings.end(),
                                    [&](const auto& one) { return one.first == name; });
    return found == settings.end() ? "" : found->second;
}

} // namespace

class TestNcclDefaults : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void recorderIsOnAndWritesIntoTheFolder() {
        const auto settings = rm::ncclDefaults("/run/7/log");
        QVERIFY(std::stoi(valueOf(settings, "TORCH_FR_BUFFER_SIZE")) > 0);
        QCOMPARE(valueOf(settings, "TORCH_NCCL_DUMP_ON_TIMEOUT"), std::string("1"));
        QCOMPARE(valueOf(settings, "TORCH_NCCL_ASYNC_ERROR_HANDLING"), std::string("3"));
        QCOMPARE(valueOf(settings, "TORCH_FR_DUMP_TEMP_FILE"),
                 std::string("/run/7/log/nccl-trace-rank-"));
    }

    void nothingIsWrittenWithoutAFolder() {
        const auto settings = rm::ncclDefaults("");
        QCOMPARE(valueOf(settings, "TORCH_NCCL_DUMP_ON_TIMEOUT"), std::string("0"));
        QCOMPARE(valueOf(settings, "TORCH_FR_DUMP_TEMP_FILE"), std::string());
    }

    void whatTheUserSetStays() {
        qputenv("TORCH_FR_BUFFER_SIZE", "17");
        qunsetenv("TORCH_NCCL_DUMP_ON_TIMEOUT");
        rm::applyNcclDefaults("/tmp");
        QCOMPARE(qgetenv("TORCH_FR_BUFFER_SIZE"), QByteArray("17"));
        QCOMPARE(qgetenv("TORCH_NCCL_DUMP_ON_TIMEOUT"), QByteArray("1"));
    }
};

QTEST_GUILESS_MAIN(TestNcclDefaults)
#include "tst_nccl_defaults.moc"
