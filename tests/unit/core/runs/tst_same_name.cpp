// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/same_name.h"

#include <QTest>

using namespace rm;

class TestSameName : public QObject {
    Q_OBJECT

    static RunSummary run(const char* id, const char* name) {
        RunSummary run;
        run.id = id;
        run.name = name;
        return run;
    }

private Q_SLOTS:
    void aNameThatIsTakenIsTold() {
        std::vector<RunSummary> runs = {run("gpt-large-3", "gpt-large"), run("gpt-2", "gpt")};
        const std::string advice = ": choose another name, or tell them apart by their ids";
        QCOMPARE(sameNameWords(runs, "gpt"), "a run is called gpt already, gpt-2" + advice);
        runs.push_back(run("gpt-1", "gpt"));
        QCOMPARE(sameNameWords(runs, "gpt"),
                 "2 runs are called gpt already, the newest is gpt-2" + advice);
        QCOMPARE(sameNameWords(runs, "new"), std::string());
    }
};

QTEST_GUILESS_MAIN(TestSameName)
#include "app/core/store/run_summary.h"

#include "tst_same_name.moc"
