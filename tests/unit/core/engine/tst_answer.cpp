// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/answer.h"

#include <QTest>
#include <QtConcurrent>

#include <memory>
#include <semaphore>

using namespace rm;

class TestAnswer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void answerArrivesInTheContextsThread() {
        QObject context;
        int got = 0;
        whenAnswered(QtConcurrent::run([] { return 7; }), &context, [&](int answer) {
            QCOMPARE(QThread::currentThread(), context.thread());
            got = answer;
        });
        QTRY_COMPARE(got, 7);
    }

    void answerThatIsThereAlreadyArrivesToo() {
        QObject context;
        int got = 0;
        whenAnswered(QtFuture::makeReadyFuture(7), &context, [&](int answer) { got = answer; });
        QTRY_COMPARE(got, 7);
    }

    void canceledQuestionFinishesWithoutAnswer() {
        QObject context;
        auto promise = std::make_unique<QPromise<int>>();
        promise->start();
        bool answered = false;
        bool finished = false;
        whenAnswered(promise->future(), &context, [&](int) { answered = true; });
        whenFinished(promise->future(), &context,
                     [&](const QFuture<int>& future) { finished = future.isCanceled(); });
        promise.reset();
        QTRY_VERIFY(finished);
        QVERIFY(!answered);
    }

    void contextMayGoWhileTheAnswerIsOnItsWay() {
        QThreadPool pool;
        int calls = 0;
        for (int i = 0; i < 500; ++i) {
            auto context = std::make_unique<QObject>();
            std::binary_semaphore about(0);
            whenFinished(QtConcurrent::run(&pool,
                                           [&about] {
                                               about.release();
                                               return 1;
                                           }),
                         context.get(), [&calls](const QFuture<int>&) { ++calls; });
            about.acquire(); // the worker finishes just as the context goes
            context.reset();
            QCoreApplication::processEvents();
        }
        QCOMPARE(calls, 0);
    }

    void answerIsPassedOnAfterItsUse() {
        QObject context;
        int used = 0;
        const auto passed = passOn(QtConcurrent::run([] { return 7; }), &context,
                                   [&](int answer) { used = answer; });
        QTRY_VERIFY(passed.isFinished());
        QCOMPARE(used, 7);
        QCOMPARE(passed.result(), 7);
    }

    void whatIsPassedOnIsCanceledWhenTheContextGoes() {
        auto promise = std::make_unique<QPromise<int>>();
        promise->start();
        auto context = std::make_unique<QObject>();
        const auto passed = passOn(promise->future(), context.get(), [](int) {});
        context.reset();
        QVERIFY(passed.isCanceled());
        QVERIFY(passed.isFinished());
        promise->addResult(1);
        promise->finish();
    }
};

QTEST_GUILESS_MAIN(TestAnswer)
#include "tst_answer.moc"
