// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/steps_left.h"

#include <QTest>

using namespace rm;

class TestStepsLeft : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void stepsOfTheSpecDecide() {
        RunSpec spec;
        spec.train.steps = 100;
        QVERIFY(stepsLeft(spec, 99));
        QVERIFY(stepsLeft(spec, 100).error().message.ends_with(
            "train.steps is 100; branch from there with more"));
    }

    void epochsDecideOnceTheirStepsAreKnown() {
        RunSpec spec;
        spec.train.steps = 100;
        spec.train.epochs = 3;
        QVERIFY(stepsLeft(spec, 5000));
        QVERIFY(stepsLeft(spec, 1199, 1200));
        QVERIFY(stepsLeft(spec, 1200, 1200)
                    .error()
                    .message.ends_with("train.epochs is 3, which end with step 1200; branch from "
                                       "there with more"));
    }
};

QTEST_GUILESS_MAIN(TestStepsLeft)
#include "tst_steps_left.moc"
