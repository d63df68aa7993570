// SPDX-License-Identifier: Apache-2.0
#include "shared/metrics/metric_title.h"
#include "shared/metrics/registry.h"
#include "tests/unit/shared/shared_test.h"

#include <algorithm>
#include <cmath>
#include <set>

using namespace rm;

class TestMetrics : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void builtinsAreSortedUniqueAndNamedByTheRule() {
        const auto metrics = builtinMetrics();
        QVERIFY(std::ranges::is_sorted(metrics, std::less(), &MetricDef::id));
        std::set<MetricId> ids;
        std::set<std::string> names;
        for (const MetricDef& def : metrics) {
            QVERIFY2(isValidMetricName(def.name), def.name.c_str());
            QVERIFY(def.id > 0 && def.id < metric::kFirstUser);
            QVERIFY(def.description.ends_with('.'));
            ids.insert(def.id);
            names.insert(def.name);
        }
        QCOMPARE(ids.size(), metrics.size());
        QCOMPARE(names.size(), metrics.size());
    }

    void builtinsAreFoundByIdAndName() {
        for (const MetricDef& def : builtinMetrics()) {
            QCOMPARE(findBuiltinMetric(def.id), &def);
            QCOMPARE(findBuiltinMetric(def.name), &def);
        }
        QCOMPARE(findBuiltinMetric(metric::kValidationLoss)->scope, MetricScope::kRun);
        QCOMPARE(findBuiltinMetric("gpu/utilization")->unit, std::string("ratio"));
    }

    void whatIsNotBuiltInIsNotFound() {
        for (const MetricId id : {MetricId(0), MetricId(29), metric::kFirstUser, MetricId(65535)})
            QCOMPARE(findBuiltinMetric(id), nullptr);
        QCOMPARE(findBuiltinMetric("train/lossy"), nullptr);
        QCOMPARE(findBuiltinMetric(""), nullptr);
    }

    void everyPanelIsARowAndEveryRowHasMetrics() {
        std::set<std::string> keys;
        for (const MetricPanel& panel : metricPanels()) {
            QVERIFY2(keys.insert(panel.key).second, panel.key.c_str());
            QVERIFY2(!metricsOfPanel(panel.key).empty(), panel.key.c_str());
            QVERIFY2(!panel.title.empty(), panel.key.c_str());
        }
        for (const MetricDef& metric : builtinMetrics())
            QVERIFY2(keys.contains(metric.panel), metric.name.c_str());
    }

    void metricsOfAPanelComeByPlace() {
        const std::vector<const MetricDef*> loss = metricsOfPanel("loss");
        QCOMPARE(loss.size(), size_t(2));
        QCOMPARE(loss[0]->id, metric::kTrainLoss);
        QCOMPARE(loss[1]->id, metric::kValidationLoss);
        QVERIFY(metricsOfPanel("no such panel").empty());
    }

    void whatIsBetterFollowsFromTheDirection() {
        const MetricDef& loss = builtinMetric(metric::kValidationLoss);
        const MetricDef& bleu = builtinMetric(metric::kValidationBleu);
        const double nan = std::nan("");
        QVERIFY(isBetter(loss, 1, 2) && !isBetter(loss, 2, 1) && !isBetter(loss, 1, 1));
        QVERIFY(isBetter(bleu, 2, 1) && !isBetter(bleu, 1, 2));
        for (const MetricDef* metric : {&loss, &bleu})
            QVERIFY(isBetter(*metric, 1, nan) && !isBetter(*metric, nan, 1) &&
                    !isBetter(*metric, nan, nan));
        const MetricDef& lr = builtinMetric(metric::kTrainLr);
        QVERIFY(!isBetter(lr, 1, 2) && !isBetter(lr, 2, 1));
    }

    void labelsFollowFromTheName() {
        QCOMPARE(labelOf(builtinMetric(metric::kTrainLr)), std::string("lr"));
        QCOMPARE(briefOf(builtinMetric(metric::kTrainLr)), std::string("lr"));
        QCOMPARE(labelOf(builtinMetric(metric::kPhaseAllreduceMs)), std::string("all-reduce"));
        QCOMPARE(briefOf(builtinMetric(metric::kPhaseAllreduceMs)), std::string("comm"));
    }

    void oursHaveTitlesInWordsAndARunsOwnTheirNames() {
        std::set<std::string> titles;
        for (const MetricDef& metric : builtinMetrics()) {
            const std::string title = titleOf(metric);
            QVERIFY2(!title.empty() && title.find('/') == title.find("/s)"), metric.name.c_str());
            QVERIFY2(titles.insert(title).second, title.c_str());
        }
        QCOMPARE(titleOf(builtinMetric(metric::kTrainLr)), std::string("Learning rate"));
        QCOMPARE(titleOf({.id = 1001, .name = "aux/loss"}), std::string("aux/loss"));
        QCOMPARE(titleOf({.id = 1002, .name = "aux/wait", .unit = "ms"}),
                 std::string("aux/wait (ms)"));
    }

    void badNamesAreRefused_data() {
        QTest::addColumn<QByteArray>("name");
        for (const char* name : {"", "/", "loss", "/loss", "train/", "a/b/c", "Train/loss", "a/ b",
                                 "a/b\n", "a/<b>", "a/\xc3\xa9", "a//b"})
            QTest::newRow(*name ? name : "empty") << QByteArray(name);
        QTest::newRow("long") << "a/" + QByteArray(63, 'b');
        QTest::newRow("NUL") << QByteArray("a/b\0", 4);
    }
    void badNamesAreRefused() {
        QFETCH(QByteArray, name);
        QVERIFY(!isValidMetricName(name.toStdString()));
    }

    void goodNamesAreTaken() {
        for (const char* name : {"a/b", "train/loss", "user/top-5.accuracy_1"})
            QVERIFY2(isValidMetricName(name), name);
        QVERIFY(isValidMetricName("a/" + std::string(62, 'b')));
    }
};

QTEST_GUILESS_MAIN(TestMetrics)
#include "tst_metrics.moc"
