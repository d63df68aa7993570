// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/branch_name.h"

#include <QTest>

using namespace rm;

class TestBranchName : public QObject {
    Q_OBJECT

    static RunSpec parent() {
        RunSpec spec;
        spec.name = "gpt-tiny";
        return spec;
    }

private Q_SLOTS:
    void nameSaysWhatDiffers_data() {
        QTest::addColumn<double>("lr");
        QTest::addColumn<QString>("name");
        QTest::newRow("power of ten") << 5e-4 << "gpt-tiny, lr 5e-4";
        QTest::newRow("digits") << 0.00125 << "gpt-tiny, lr 0.00125";
        QTest::newRow("plain") << 0.25 << "gpt-tiny, lr 0.25";
        QTest::newRow("one") << 1.0 << "gpt-tiny, lr 1";
        QTest::newRow("small") << 3.2e-7 << "gpt-tiny, lr 3.2e-7";
    }
    void nameSaysWhatDiffers() {
        QFETCH(double, lr);
        QFETCH(QString, name);
        RunSpec spec = parent();
        spec.optimizer.lr = lr;
        spec.name = "what a person wrote does not count";
        QCOMPARE(QString::fromStdString(branchName(parent(), spec, 401)), name);
    }

    void nameOfTheSameSpecSaysTheStep() {
        QCOMPARE(branchName(parent(), parent(), 401), std::string("gpt-tiny, from 401"));
    }

    void manyChangesAreCounted() {
        RunSpec spec = parent();
        spec.train.steps += 1;
        spec.checkpoint.every = 7;
        spec.optimizer.lr = 0.5;
        spec.optimizer.clip = 9;
        spec.seed = 5;
        const std::string name = branchName(parent(), spec, 1);
        QVERIFY2(name.starts_with("gpt-tiny, ") && name.ends_with(" and 2 more"), name.c_str());
    }

    void nameIsNeverTooLong() {
        RunSpec from = parent();
        from.name = std::string(60, 'x');
        RunSpec spec = from;
        spec.optimizer.lr = 0.5;
        QVERIFY(branchName(from, spec, 1).size() <= 64);
        from.name = std::string(63, 'x') + "\u00e4";
        spec.name = from.name;
        QCOMPARE(branchName(from, spec, 1), std::string(63, 'x'));
    }

    void aSettingOfTheParentsNameIsReplaced() {
        RunSpec from = parent();
        from.optimizer.lr = 3e-3;
        from.name = "gpt-tiny, lr 3e-3, batch_size 8";
        RunSpec spec = from;
        spec.optimizer.lr = 1e-3;
        QCOMPARE(branchName(from, spec, 1), std::string("gpt-tiny, batch_size 8, lr 1e-3"));
    }

    void ambiguousKeyIsWhole() {
        RunSpec spec = parent();
        spec.checkpoint.every = 7;
        QCOMPARE(branchName(parent(), spec, 1), std::string("gpt-tiny, checkpoint.every 7"));
    }
};

QTEST_GUILESS_MAIN(TestBranchName)
#include "tst_branch_name.moc"
