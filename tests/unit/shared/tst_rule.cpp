// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/rule.h"
#include "shared/spec/run_spec.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <cctype>
#include <sstream>

using namespace rm;

class TestRule : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void aRuleIsReadAsItIsWritten() {
        const auto rule = parseRule("validation/loss rises 3 times: lr / 2 and checkpoint");
        RM_OK(rule);
        QCOMPARE(rule->metric, std::string("validation/loss"));
        QVERIFY(rule->when == Rule::When::kRises);
        QCOMPARE(rule->times, int64_t(3));
        QCOMPARE(rule->actions.size(), size_t(2));
        QVERIFY(rule->actions[0].kind == Rule::Action::Kind::kLr);
        QCOMPARE(rule->actions[0].factor, 0.5);
        QVERIFY(rule->actions[1].kind == Rule::Action::Kind::kCheckpoint);
    }

    void everyWordIsKnown_data() {
        QTest::addColumn<QByteArray>("text");
        for (const char* text :
             {"train/loss falls: checkpoint", "train/loss falls 1 time: checkpoint",
              "validation/bleu stalls 5 times: stop", "train/grad_norm above 1e3 2 times: pause",
              "validation/top1 above 0.75: checkpoint and hold",
              "train/tokens_per_s below 1000.5 20 times: checkpoint and pause",
              "train/loss above -1:lr * 0.1", "  train/step_ms   above 500 : hold  ",
              "train/loss rises: lr / 2 and checkpoint at most 4 times",
              "train/loss above 9 2 times: hold at most 1 time"})
            QTest::newRow(text) << QByteArray(text);
    }
    void everyWordIsKnown() {
        QFETCH(QByteArray, text);
        auto rule = parseRule(text.toStdString());
        RM_OK(rule);
        QCOMPARE(rule->text, text.toStdString());
        auto again = parseRule(toText(*rule));
        RM_OK(again);
        again->text = rule->text;
        QVERIFY(*again == *rule);
    }

    void mistakesAreNamed_data() {
        QTest::addColumn<QByteArray>("text");
        QTest::addColumn<QByteArray>("words");
        const auto row = [](const char* text, const char* words) {
            QTest::newRow(text) << QByteArray(text) << QByteArray(words);
        };
        row("", "expected a metric first");
        row("validation/los rises: stop", "one of train/loss");
        row("gpu/utilization below 0.1: stop", "expected a metric first");
        row("train/loss", "expected rises, falls, stalls, above or below after the metric, but it");
        row("train/loss goes up: stop", "not \"goes\"");
        row("train/grad_norm stalls 3 times: stop", "train/grad_norm cannot stall");
        row("train/loss above: stop", "expected a number after above, not \":\"");
        row("train/loss above nan: stop", "expected a number after above, not \"nan\"");
        row("train/loss above 1e999: stop", "not \"1e999\"");
        row("train/loss rises 0 times: stop", "expected how many times, 1 to 1000000");
        row("train/loss rises 3: stop", "expected \"times\" after 3, not \":\"");
        row("train/loss rises 3 times", "expected \":\" before what is done, but it ends");
        row("train/loss rises:", "expected lr / NUMBER");
        row("train/loss rises: explode", "not \"explode\"");
        row("train/loss rises: lr/2", "not \"lr/2\"");
        row("train/loss rises: lr - 2", "expected \"/\" or \"*\" after lr, between blanks");
        row("train/loss rises: lr / 0", "expected a number from 0.000001 to 1000000 after lr /");
        row("train/loss rises: stop and checkpoint", "nothing can follow stop");
        row("train/loss rises: checkpoint checkpoint", "expected \"and\" with another action");
        row("train/loss rises: checkpoint and", "expected lr / NUMBER");
        row("train/loss rises: hold at 3", "not \"at\"");
        row("train/loss rises: hold at most", "expected how many times, 1 to 1000000, but it ends");
        row("train/loss rises: hold at most 0 times", "expected how many times, 1 to 1000000");
        row("train/loss rises:\ncheckpoint", "a rule is one line");
    }
    void mistakesAreNamed() {
        QFETCH(QByteArray, text);
        QFETCH(QByteArray, words);
        const auto rule = parseRule(text.toStdString());
        RM_FAILS(rule, ErrorCode::kInvalid, words.toStdString());
        QVERIFY(rule.error().message.starts_with("rule \""));
    }

    void rulesOfASpecAreChecked() {
        RunSpec spec = example::spec();
        spec.rules = {"train/loss rises 3 times: lr / 2", "train/loss jumps: stop"};
        RM_FAILS(check(spec), ErrorCode::kInvalid, "rule \"train/loss jumps: stop\"");
        spec.rules = {"validation/top1 falls: stop"};
        RM_FAILS(check(spec), ErrorCode::kInvalid, "model does not measure it");
        spec.rules = {"validation/loss rises: stop"};
        RM_OK(check(spec));
        spec.validation.every = 0;
        spec.train.patience = 0;
        RM_FAILS(check(spec), ErrorCode::kInvalid,
                 "validation.every = 0 and validation.every_epochs = 0 never validate");
        spec.rules.assign(33, "train/loss rises: stop");
        RM_FAILS(check(spec), ErrorCode::kInvalid, "more than 32 rules");
    }

    void theHelpNamesEverythingAndItsExamplesAreRules() {
        std::istringstream help(ruleHelp());
        int examples = 0;
        for (std::string line; std::getline(help, line);)
            if (std::islower(line.front())) {
                RM_OK(parseRule(line));
                ++examples;
            }
        QCOMPARE(examples, 2);
        for (const std::string_view metric : ruleMetrics())
            QVERIFY(ruleHelp().find(metric) != std::string::npos);
        for (const char* word : {"rises", "falls", "stalls", "above NUMBER", "below NUMBER",
                                 "lr / NUMBER", "checkpoint", "hold", "pause", "stop", "at most"})
            QVERIFY2(ruleHelp().find(word) != std::string::npos, word);
    }

    void rulesSurviveTheirFile() {
        RunSpec spec = example::spec();
        spec.rules = {"train/loss above 7.5: lr / 10 and checkpoint", "train/loss rises: hold"};
        const auto again = parseRunSpec(toToml(spec), "again.toml");
        RM_OK(again);
        QVERIFY(*again == spec);
    }
};

QTEST_GUILESS_MAIN(TestRule)
#include "tst_rule.moc"
