// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/live_settings.h"
#include "shared/spec/model_family.h"
#include "shared/spec/node_plan.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <QTemporaryDir>

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <set>

using namespace rm;

namespace {

RunSpec goodSpec() {
    RunSpec spec;
    spec.data.train = {"/usr/share/common-licenses"};
    return spec;
}

std::string parseError(const std::string& toml) {
    const auto spec = parseRunSpec(toml, "gpt.toml");
    return spec ? "" : spec.error().message;
}

struct BrokenRule {
    const char* name;
    void (*breakRule)(RunSpec&);
    const char* words;
};
const BrokenRule kBrokenRules[] = {
    {"low", [](RunSpec& s) { s.train.steps = 0; },
     "train.steps is 0, but must be 1 to 1000000000000"},
    {"high", [](RunSpec& s) { s.launch.masterPort = 65536; },
     "launch.master_port is 65536, but must be 0 to 65535"},
    {"lowest", [](RunSpec& s) { s.seed = INT64_MIN; }, "seed is -9223372036854775808"},
    {"nan", [](RunSpec& s) { s.optimizer.lr = std::nan(""); }, "optimizer.lr is nan"},
    {"infinite", [](RunSpec& s) { s.optimizer.clip = INFINITY; }, "optimizer.clip is inf"},
    {"choice", [](RunSpec& s) { s.launch.device = "tpu"; },
     R"(launch.device is "tpu", but must be one of "auto", "cpu", "cuda")"},
    {"one choice", [](RunSpec& s) { s.model.type = "bert"; },
     R"(model.type is "bert", but must be one of "gpt")"},
    {"heads", [](RunSpec& s) { s.model.heads = 5; },
     "model.width is 384, which model.heads = 5 does not divide"},
    {"no data", [](RunSpec& s) { s.data.train.clear(); }, "data.train is empty"},
    {"relative", [](RunSpec& s) { s.data.train = {"data"}; }, "must be absolute"},
    {"empty path", [](RunSpec& s) { s.data.validation = {""}; }, "empty path"},
    {"relative weights", [](RunSpec& s) { s.model.startFrom = "gpt2"; },
     "model.start_from holds \"gpt2\", but paths on the nodes must be absolute"},
    {"relative tokenizer", [](RunSpec& s) { s.data.tokenizerFile = "gpt2"; },
     "data.tokenizer_file holds \"gpt2\""},
    {"no tokenizer", [](RunSpec& s) { s.data.tokenizer = "tokenizer.json"; },
     "neither data.tokenizer_file nor model.start_from says where it is"},
    {"tokenizer of a translation",
     [](RunSpec& s) {
         s.model.type = "translation";
         s.data.tokenizer = "tokenizer.json";
         s.data.tokenizerFile = "/t";
     },
     "but a translation needs \"sentencepiece\""},
    {"no validation", [](RunSpec& s) { s.data.validationShare = 0; }, "data.validation_share is 0"},
    {"no validation by epochs",
     [](RunSpec& s) {
         s.validation.every = 0;
         s.validation.everyEpochs = 1;
         s.data.validationShare = 0;
     },
     "but validation.every_epochs asks for validation"},
    {"few tokens",
     [](RunSpec& s) {
         s.model.type = "translation";
         s.train.batchTokens = 15;
     },
     "train.batch_tokens is 15, but must be 0 or at least 16"},
    {"batches by rank and by tokens",
     [](RunSpec& s) {
         s.model.type = "translation";
         s.train.rankBatchSizes = {4, 8};
     },
     "set train.batch_tokens = 0"},
    {"earlier checkpoints", [](RunSpec& s) { s.checkpoint.onExisting = "latest"; },
     R"(must be one of "refuse", "resume", "separate")"},
    {"warm-up", [](RunSpec& s) { s.schedule.warmupSteps = 1001; },
     "must be at most train.steps = 1000"},
    {"lowest rate", [](RunSpec& s) { s.schedule.minLr = 1; },
     "must be at most optimizer.lr = 0.0003"},
    {"letters of a translation", [](RunSpec& s) { s.model.type = "translation"; },
     R"(data.tokenizer is "bytes", but a translation needs "sentencepiece")"},
    {"translations longer than the model",
     [](RunSpec& s) {
         s.model.type = "translation";
         s.validation.sampleTokens = 257;
     },
     "validation.sample_tokens is 257, but must be at most model.context = 256"},
    {"translations that are not measured",
     [](RunSpec& s) {
         s.model.type = "translation";
         s.train.watch = "bleu";
         s.validation.sampleTokens = 0;
     },
     "train.watch is \"bleu\", which validation.sample_tokens = 0 never measures"},
    {"folder", [](RunSpec& s) { s.checkpoint.directory = "here"; }, "absolute path"},
    {"no name", [](RunSpec& s) { s.name = ""; }, "name must be"},
    {"long name", [](RunSpec& s) { s.name = std::string(65, 'x'); }, "name must be"},
    {"lines in name", [](RunSpec& s) { s.name = "a\nb"; }, "name must be"},
    {"escape in name", [](RunSpec& s) { s.name = "\x1b[2J"; }, "control characters"},
    {"bytes in name", [](RunSpec& s) { s.name = "\xff"; }, "not UTF-8"},
    {"interface", [](RunSpec& s) { s.launch.interface = "eth0; rm -rf /"; }, "launch.interface"},
};

/// The spec with what the field hangs on, if it does.
RunSpec withChoiceFor(const SchemaRow& field, RunSpec spec) {
    const auto other = std::ranges::find(specSchema(), field.only.key, &SpecField::key);
    if (other != specSchema().end())
        *std::get<std::string*>(other->ref(spec)) = field.only.values.front();
    return spec;
}

} // namespace

Q_DECLARE_METATYPE(std::function<void(rm::RunSpec&)>)

class TestSpec : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyFieldSurvives() {
        RM_OK(parseRunSpec(toToml(example::spec()), "x"));
        QVERIFY(*parseRunSpec(toToml(example::spec()), "x") == example::spec());
        QVERIFY(*parseRunSpec(toToml(RunSpec{}), "x") == RunSpec{});
        QVERIFY(*parseRunSpec("", "x") == RunSpec{});
    }

    void schemaReachesEveryFieldOnce() {
        // Setting each field through the schema must lead from the defaults to another value.
        std::set<std::string_view> keys;
        std::set<const void*> targets;
        RunSpec spec;
        for (const SpecField& field : specSchema()) {
            keys.insert(field.key);
            targets.insert(std::visit([](auto* p) -> const void* { return p; }, field.ref(spec)));
            QVERIFY2(!field.label.empty() && field.description.ends_with('.'),
                     std::string(field.key).c_str());
        }
        QCOMPARE(keys.size(), specSchema().size());
        QCOMPARE(targets.size(), specSchema().size());
    }

    void noNameOfAnotherToolMeansTwoFields() {
        std::map<std::string_view, std::string_view> owner;
        for (const SchemaRow& field : schemaRows())
            for (const std::string_view alias : field.aliases) {
                QVERIFY2(owner.emplace(alias, field.key).second, std::string(alias).c_str());
                QVERIFY2(parseError(std::string(alias) + " = 1")
                                 .find("did you mean \"" + std::string(field.key)) !=
                             std::string::npos,
                         parseError(std::string(alias) + " = 1").c_str());
            }
    }

    void aFieldIsUsedWhereItHasAnEffect_data() {
        QTest::addColumn<QString>("model");
        QTest::addColumn<QStringList>("used");
        QTest::addColumn<QStringList>("unused");
        QTest::newRow("gpt") << "gpt" << QStringList{"data.tokenizer", "train.batch_size"}
                             << QStringList{"data.max_bad",       "train.batch_tokens",
                                            "model.image_size",   "data.vocab_size",
                                            "optimizer.momentum", "schedule.step_every"};
        QTest::newRow("translation")
            << "translation" << QStringList{"data.tokenizer", "train.batch_tokens", "data.max_bad"}
            << QStringList{"train.batch_size", "train.rank_batch_sizes", "validation.prompt"};
        QTest::newRow("resnet18") << "resnet18"
                                  << QStringList{"train.batch_size", "model.image_size"}
                                  << QStringList{"data.tokenizer", "model.layers",
                                                 "validation.sample_tokens"};
    }
    void aFieldIsUsedWhereItHasAnEffect() {
        QFETCH(QString, model);
        QFETCH(QStringList, used);
        QFETCH(QStringList, unused);
        RunSpec spec;
        spec.model.type = model.toStdString();
        for (const SchemaRow& field : schemaRows()) {
            const QString key = QString::fromUtf8(field.key.data(), qsizetype(field.key.size()));
            QVERIFY2(!used.contains(key) || usesField(spec, field), qPrintable(key));
            QVERIFY2(!unused.contains(key) || !usesField(spec, field), qPrintable(key));
        }
    }

    void everyFamilyOfModelsIsComplete_data() {
        QTest::addColumn<QString>("type");
        for (const ModelFamily& family : modelFamilies())
            for (const std::string_view type : family.types)
                QTest::newRow(std::string(type).c_str())
                    << QString::fromStdString(std::string(type));
    }
    void everyFamilyOfModelsIsComplete() {
        QFETCH(QString, type);
        RunSpec spec;
        spec.model.type = type.toStdString();
        const ModelFamily& family = familyOf(spec);
        QVERIFY(!family.name.empty() && family.check && family.bound);
        for (const std::string_view key : family.uses)
            QVERIFY2(std::ranges::count(schemaRows(), key, &SchemaRow::key) == 1,
                     std::string(key).c_str());
        for (const FamilyRow& own : family.rows) {
            QVERIFY2(usesField(withChoiceFor(own.row, spec), own.row.key),
                     std::string(own.row.key).c_str());
            QVERIFY(own.after.empty() ||
                    std::ranges::count(schemaRows(), own.after, &SchemaRow::key) == 1);
        }
        QCOMPARE(family.figures.at(0), metric::kValidationLoss);
        for (const MetricId figure : family.figures)
            QVERIFY(findBuiltinMetric("validation/" + std::string(watchNameOf(figure))));
        QVERIFY(memoryBound(spec) > 0);
    }

    void aTypeBelongsToOneFamily() {
        for (const ModelFamily& family : modelFamilies())
            for (const std::string_view type : family.types)
                QCOMPARE(findFamily(type), &family);
        QVERIFY(!findFamily("perceptron"));
    }

    void aChoiceBringsItsFields() {
        const auto field = std::ranges::find(schemaRows(), "optimizer.momentum", &SchemaRow::key);
        RunSpec spec;
        QVERIFY(!usesField(spec, *field));
        spec.optimizer.type = "sgd";
        QVERIFY(usesField(spec, *field));
    }

    void epochsTakeThePlaceOfSteps() {
        RunSpec spec = goodSpec();
        QVERIFY(usesField(spec, "train.steps") && knownSteps(spec) == 1000);
        spec.train.epochs = 3;
        spec.schedule.warmupSteps = 4000; // how many steps there are is known with the data
        QVERIFY(!usesField(spec, "train.steps") && !knownSteps(spec));
        RM_OK(check(spec));
        QVERIFY(validates(spec));
        spec.validation.every = 0;
        QVERIFY(!validates(spec));
        spec.validation.everyEpochs = 2;
        QVERIFY(validates(spec));
    }

    void aTranslationIsBatchedByTokensOrByPairs() {
        RunSpec spec = goodSpec();
        spec.model.type = "translation";
        spec.data.tokenizer = "sentencepiece";
        QVERIFY(!usesField(spec, "train.batch_size"));
        spec.train.batchTokens = 0;
        spec.train.rankBatchSizes = {4, 8};
        QVERIFY(usesField(spec, "train.batch_size") && usesField(spec, "train.rank_batch_sizes"));
        RM_OK(check(spec));
        QVERIFY(memoryBound(spec) > 0);
    }

    void defaultsAreWithinTheirBounds() {
        RM_OK(check(goodSpec()));
        RM_OK(check(example::spec()));
    }

    void numbersAreWrittenAsPeopleTypeThem_data() {
        QTest::addColumn<double>("number");
        QTest::addColumn<QString>("text");
        QTest::newRow("rate") << 3e-4 << "0.0003";
        QTest::newRow("tenth") << 0.1 << "0.1";
        QTest::newRow("whole") << 1.0 << "1.0";
        QTest::newRow("zero") << 0.0 << "0.0";
        QTest::newRow("tiny") << 1e-8 << "1e-08";
        QTest::newRow("huge") << 1e300 << "1e+300";
    }
    void numbersAreWrittenAsPeopleTypeThem() {
        QFETCH(double, number);
        QFETCH(QString, text);
        RunSpec spec;
        spec.optimizer.lr = number;
        const std::string toml = toToml(spec);
        QVERIFY2(toml.find("\nlr = " + text.toStdString() + "\n") != toml.npos, toml.c_str());
        QCOMPARE(parseRunSpec(toml, "x")->optimizer.lr, number);
    }

    void everyDoubleSurvives() {
        using Limits = std::numeric_limits<double>;
        for (const double number : {Limits::min(), Limits::max(), Limits::denorm_min(), 1.0 / 3,
                                    5e-324, 123456789.123456789, -0.1, Limits::infinity()}) {
            RunSpec spec;
            spec.optimizer.lr = number;
            QCOMPARE(parseRunSpec(toToml(spec), "x")->optimizer.lr, number);
        }
    }

    void everyTextSurvives() {
        for (const char* text : {"", "'", "\"", "\\", "'''", "\"\"\"", "a\tb\n\nc", "é€😀",
                                 " # not a comment ", "\x01\x7f", "[x]\n\n y = 1"}) {
            RunSpec spec;
            spec.validation.prompt = text;
            spec.data.train = {text, text};
            const auto parsed = parseRunSpec(toToml(spec), "x");
            RM_OK(parsed);
            QVERIFY(*parsed == spec);
        }
    }

    /// A request to the engine carries a spec as its TOML, also one that was not checked.
    void noBytesMakeItUnreadable() {
        const std::string texts[] = {"\xff", "a\xc3", "\xed\xa0\x80", "\xf4\x90\x80\x80",
                                     std::string("a\0b", 3)};
        for (const std::string& text : texts) {
            RunSpec spec;
            spec.name = text;
            spec.data.train = {text};
            spec.rules = {text};
            spec.optimizer.lr = std::numeric_limits<double>::quiet_NaN();
            RM_OK(parseRunSpec(toToml(spec), "x"));
        }
    }

    void wholeNumberIsFineForAFraction() {
        QCOMPARE(parseRunSpec("[optimizer]\nlr = 1", "x")->optimizer.lr, 1.0);
    }

    void mistakesAreNamed_data() {
        QTest::addColumn<QString>("toml");
        QTest::addColumn<QString>("message");
        const auto row = [](const char* name, const char* toml, const char* message) {
            QTest::newRow(name) << toml << QString("read gpt.toml: ") + message;
        };
        row("unknown key", "[optimizer]\nlrr = 1",
            R"(unknown key "optimizer.lrr" (line 2); did you mean "optimizer.lr"?)");
        row("unknown section", "\n[optimiser]\nlr = 1",
            R"(unknown key "optimiser.lr" (line 3); did you mean "optimizer.lr"?)");
        row("section without keys", "[nonsense_and_more]",
            R"(unknown key "nonsense_and_more" (line 1))");
        row("missing section", "steps = 5",
            R"(unknown key "steps" (line 1); did you mean "train.steps"?)");
        row("other tool's name", "learning_rate = 1e-3",
            R"(unknown key "learning_rate" (line 1); did you mean "optimizer.lr"?)");
        row("the same, of the schedule", "schedule.min_learning_rate = 1e-5",
            R"(unknown key "schedule.min_learning_rate" (line 1); did you mean "schedule.min_lr"?)");
        row("other tool's name in a section", "[train]\nlearning_rate = 1e-3",
            R"(unknown key "train.learning_rate" (line 2); did you mean "optimizer.lr"?)");
        row("other tool's name misspelt", "[model]\nhiden-sise = 3",
            R"(unknown key "model.hiden-sise" (line 2); did you mean "model.width"?)");
        row("other tool's name in capitals", "[optimizer]\nMAX_GRAD_NORM = 3",
            R"(unknown key "optimizer.MAX_GRAD_NORM" (line 2); did you mean "optimizer.clip"?)");
        row("own name in another section", "[optimizer]\nwarmup_steps = 3",
            R"(unknown key "optimizer.warmup_steps" (line 2); did you mean "schedule.warmup_steps"?)");
        row("own section decides", "[validation]\nevry = 3",
            R"(unknown key "validation.evry" (line 2); did you mean "validation.every"?)");
        row("own section before another tool's name", "[checkpoint]\nevery_epoch = 3",
            R"(unknown key "checkpoint.every_epoch" (line 2); did you mean "checkpoint.every_epochs"?)");
        row("with its unit", "[checkpoint]\nevery_steps = 3",
            R"(unknown key "checkpoint.every_steps" (line 2); did you mean "checkpoint.every"?)");
        row("unlike any", "[train]\nx = 3\n", R"(unknown key "train.x" (line 2))");
        row("section as a value", "model = 3",
            R"("model" (line 1) is a section; write [model] and its keys below)");
        row("value as a section", "[name]\nx = 1", R"(unknown key "name.x" (line 2))");
        row("array of tables", "[[train]]\nsteps = 1", R"("train" (line 1) is a section)");
        row("text for a number", "[train]\nsteps = \"many\"",
            R"("train.steps" (line 2) is 'many', but must be a whole number)");
        row("fraction for a whole", "[train]\nsteps = 1.5",
            R"("train.steps" (line 2) is 1.5, but must be a whole number)");
        row("number for a text", "name = 3",
            R"("name" (line 1) is 3, but must be a text in quotes)");
        row("number for a truth", "[data]\nstage = 1",
            R"("data.stage" (line 2) is 1, but must be true or false)");
        row("truth for a number", "[optimizer]\nlr = true",
            R"("optimizer.lr" (line 2) is true, but must be a number)");
        row("date for a number", "[optimizer]\nlr = 2020-01-01",
            R"("optimizer.lr" (line 2) is 2020-01-01, but must be a number)");
        row("text for a list", "[data]\ntrain = \"/a\"",
            R"("data.train" (line 2) is '/a', but must be a list of texts in quotes)");
        row("numbers in a list", "[data]\ntrain = [1]",
            R"("data.train" (line 2) is [ 1 ], but must be a list of texts in quotes)");
        row("too large a whole", "seed = 9223372036854775808", "line 1, column ");
        row("syntax", "seed = ", "line 1, column ");
        row("same key twice", "seed = 1\nseed = 2", "line 2, column ");
    }
    void mistakesAreNamed() {
        QFETCH(QString, toml);
        QFETCH(QString, message);
        const QString error = QString::fromStdString(parseError(toml.toStdString()));
        QVERIFY2(error.contains(message), qPrintable(error));
    }

    void bytesThatAreNotUtf8AreAnError() {
        const std::string error = parseError("seed = 1\nname = \"\xff\"");
        QVERIFY2(error.starts_with("read gpt.toml: line 2, column "), error.c_str());
    }

    void lettersBeyondAsciiInAKeyAreAnError() {
        for (const char* key : {"é", "aξb", "\xc2\xa1", "名", "\xc2\xa0"})
            QVERIFY2(!parseError(std::string(key) + " = 1").empty(), key);
    }

    void mistakesComeInTheOrderOfTheText() {
        const std::string error = parseError("zzzzzzzzzz = 1\n[train]\nx = 1\n[data]\ny = 1\n");
        QVERIFY(error.find("(line 1)") < error.find("(line 3)"));
        QVERIFY(error.find("(line 3)") < error.find("(line 5)"));
    }

    void floodOfMistakesIsBounded() {
        std::string toml;
        for (int i = 0; i < 1000; ++i)
            toml += "key" + std::to_string(i) + " = 1\n";
        const std::string error = parseError(toml);
        QVERIFY(std::ranges::count(error, '\n') < 30);
    }

    void deepNestingIsAnError() {
        QVERIFY(!parseError("a = " + std::string(100000, '[')).empty());
        std::string key = "a";
        for (int i = 0; i < 1000; ++i)
            key += ".a";
        QVERIFY(!parseError(key + " = 1").empty());
    }

    void brokenRulesAreNamed_data() {
        QTest::addColumn<size_t>("index");
        for (size_t i = 0; i < std::size(kBrokenRules); ++i)
            QTest::newRow(kBrokenRules[i].name) << i;
    }
    void brokenRulesAreNamed() {
        QFETCH(size_t, index);
        RunSpec spec = goodSpec();
        kBrokenRules[index].breakRule(spec);
        RM_FAILS(check(spec), ErrorCode::kInvalid, kBrokenRules[index].words);
    }

    void allBrokenRulesComeTogether() {
        RunSpec spec = goodSpec();
        spec.train.steps = 0;
        spec.model.heads = 5;
        spec.launch.device = "tpu";
        QCOMPARE(std::ranges::count(check(spec).error().message, '\n'), 2);
    }

    void environmentTakesOnlyKnownNames_data() {
        QTest::addColumn<QByteArray>("entry");
        for (const char* entry : {"LD_PRELOAD=/x.so", "PATH=/", "NCCL_DEBUG", "=x", "", "NCCL=1",
                                  "NCCL_A B=1", "NCCL_X=a\nLD_PRELOAD=b", "nccl_debug=INFO",
                                  "NCCL_X=a\rb", " NCCL_X=1", "OMP_\xc3\xa9=1"})
            QTest::newRow(*entry ? entry : "empty") << QByteArray(entry);
        QTest::newRow("NUL") << QByteArray("NCCL_X=a\0b", 10);
    }
    void environmentTakesOnlyKnownNames() {
        QFETCH(QByteArray, entry);
        RunSpec spec = goodSpec();
        spec.launch.environment = {entry.toStdString()};
        RM_FAILS(check(spec), ErrorCode::kInvalid, "launch.environment holds");
    }

    void environmentNamesAreUnique() {
        RunSpec spec = goodSpec();
        spec.launch.environment = {"OMP_NUM_THREADS=1", "OMP_NUM_THREADS=2"};
        RM_FAILS(check(spec), ErrorCode::kInvalid, "OMP_NUM_THREADS twice");
        spec.launch.environment = {"NCCL_DEBUG=INFO", "MKL_X=", "TORCH_Y=a=b c", "GLOO_Z=1"};
        RM_OK(check(spec));
    }

    void stagedPathsMayBeRelative() {
        RunSpec spec = goodSpec();
        spec.data.stage = true;
        spec.data.train = {"data/text"};
        RM_OK(check(spec));
    }

    void fileIsBounded() {
        QTemporaryDir folder;
        const std::string path = folder.filePath("x.toml").toStdString();
        RM_FAILS(loadRunSpec(path), ErrorCode::kNotFound, path);
        test::writeBytes(path, std::vector<std::byte>((1 << 20) + 1, std::byte{'#'}));
        RM_FAILS(loadRunSpec(path), ErrorCode::kInvalid, "larger than");
        test::writeBytes(path, {});
        RM_FAILS(loadRunSpec(path), ErrorCode::kCorrupt, "the file is empty");
        test::writeBytes(path, example::bytesOf(toToml(example::spec())));
        QVERIFY(*loadRunSpec(path) == example::spec());
    }

    void textOfTheFormatIsTheSchema() {
        const auto text = test::readBytes(qEnvironmentVariable("RINGMASTER_SOURCE").toStdString() +
                                          "/shared/spec/SPEC.md");
        QVERIFY2(example::textOf(text).find(example::specTable()) != std::string::npos,
                 example::specTable().c_str());
    }

    void planSurvives() {
        const auto plan = parseNodePlan(toToml(example::plan()), "plan.toml");
        RM_OK(plan);
        QVERIFY(*plan == example::plan());
        NodePlan exact = example::plan();
        exact.startFromIsExact = true;
        QVERIFY(*parseNodePlan(toToml(exact), "plan.toml") == exact);
    }

    void keysOfVeryManyPartsAreRefused_data() {
        QTest::addColumn<QString>("toml");
        const QString key = "a" + QString(".a").repeated(200000);
        QTest::newRow("table") << "\n[" + key + "]\n";
        QTest::newRow("key") << "\n" + key + " = 1\n";
        QTest::newRow("inline") << "\nb = {" + key + " = 1}\n";
    }
    void keysOfVeryManyPartsAreRefused() {
        QFETCH(QString, toml);
        RM_FAILS(parseRunSpec(toml.toStdString(), "spec.toml"), ErrorCode::kInvalid,
                 "read spec.toml: line 2: a key of more than 100 parts");
    }

    void dotsInValuesAreNoKeys() {
        RunSpec spec;
        spec.name = "dots";
        spec.validation.prompt = std::string(500, '.') + "'\"" + std::string(500, '.');
        const auto read = parseRunSpec(toToml(spec), "spec.toml");
        RM_OK(read);
        QCOMPARE(read->validation.prompt, spec.validation.prompt);
    }

    void whatLaterPlansHaveBesidesSurvives() {
        NodePlan plan = example::plan();
        plan.storeNonce = "00ff";
        plan.address = "fd00::7";
        const auto read = parseNodePlan(toToml(plan), "plan.toml");
        RM_OK(read);
        QCOMPARE(*read, plan);
    }

    void impossiblePlansAreRefused_data() {
        QTest::addColumn<QString>("line");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* line, const char* words) {
            QTest::newRow(line) << line << words;
        };
        row("run_id = \"../x\"", "run_id must be");
        row("run_id = \"-rf\"", "run_id must be");
        row("attempt = 0", "do not fit");
        row("node_index = 2", "do not fit");
        row("node_count = 5", "do not fit");
        row("first_rank = 3", "do not fit");
        row("first_rank = -1", "do not fit");
        row("first_rank = 9223372036854775807", "do not fit");
        row("local_ranks = 0", "do not fit");
        row("local_ranks = 9223372036854775807", "do not fit");
        row("world_size = 0", "do not fit");
        row("world_size = 9223372036854775807", "do not fit");
        row("master_port = 65536", "master_port");
        row("master_addr = \"\"", "master_addr");
        row("master_addr = \"a b\"", "master_addr");
        row("master_addr = \"0.0.0.0\"", "master_addr must be one address");
        row("master_addr = \"::\"", "master_addr must be one address");
        row("interface = \"a\\nb\"", "interface");
        row("address = \"a b\"", "address must be");
        row("device = \"auto\"", "device");
        row("bundle = \"relative\"", "bundle");
        row("start_from = \"/a\\nb\"", "start_from");
        row("environment = [\"A=b\\nc\"]", "environment");
        row("store_nonce = \"not hex\"", "store_nonce");
        row("ranks = 3", "unknown key \"ranks\"");
    }
    void impossiblePlansAreRefused() {
        QFETCH(QString, line);
        QFETCH(QString, words);
        QString toml;
        for (const QString& known : QString::fromStdString(toToml(example::plan())).split('\n'))
            if (known.section(" =", 0, 0) != line.section(" =", 0, 0))
                toml += known + '\n';
        RM_FAILS(parseNodePlan((toml + line).toStdString(), "plan.toml"), ErrorCode::kInvalid,
                 words.toStdString());
    }

    void runIdsAreSafeInPathsAndCommands() {
        for (const char* id : {"a", "0", "gpt-tiny-1", "a-"})
            QVERIFY2(isValidRunId(id), id);
        for (const char* id : {"", "-a", "A", "a b", "a/b", "..", "a.b", "a;b", "é", "a\n"})
            QVERIFY2(!isValidRunId(id), id);
        QVERIFY(isValidRunId(std::string(64, 'a')));
        QVERIFY(!isValidRunId(std::string(65, 'a')));
    }

    void settingsOfALiveRunAreRowsOfTheSchema() {
        QVERIFY(!liveKeys().empty());
        RunSpec spec;
        for (const std::string_view key : liveKeys()) {
            const std::string name(key);
            const auto parsed = parseLiveSetting(name, "7");
            QVERIFY2(parsed, name.c_str());
            apply({{name, *parsed}}, spec);
            QCOMPARE(liveValue(spec, key), 7.0);
        }
        QCOMPARE(spec.optimizer.lr, 7.0);
        QCOMPARE(spec.train.logEvery, int64_t(7));
    }

    void settingsThatCannotBeMadeAreNamed() {
        const std::tuple<const char*, const char*, const char*> rows[] = {
            {"model.width", "8", "cannot be set while a run trains; possible are"},
            {"no.such", "8", "cannot be set while a run trains"},
            {"optimizer.lr", "fast", "not a number"},
            {"optimizer.lr", "", "not a number"},
            {"optimizer.lr", "nan", "allowed is 0 to 1000"},
            {"optimizer.lr", "-1", "allowed is 0 to 1000"},
            {"train.log_every", "0", "allowed is 1 to 1000000000"},
            {"train.log_every", "2.5", "not a whole number"}};
        for (const auto& [key, value, words] : rows)
            RM_FAILS(parseLiveSetting(key, value), ErrorCode::kInvalid, words);
    }

    void aSettingThatALaunchWouldRefuseChangesNothing() {
        RunSpec spec = goodSpec();
        spec.schedule.minLr = 1e-4;
        QVERIFY(changeSetting(spec, "optimizer.lr", "0.001"));
        QCOMPARE(spec.optimizer.lr, 0.001);
        RM_FAILS(changeSetting(spec, "optimizer.lr", "0.00001"), ErrorCode::kInvalid,
                 "schedule.min_lr is 0.0001, but must be at most optimizer.lr");
        RM_FAILS(changeSetting(spec, "optimizer.lr", "5000"), ErrorCode::kInvalid,
                 "allowed is 0 to 1000");
        QCOMPARE(spec.optimizer.lr, 0.001);
    }

    void aSpecOfAnEarlierReleaseCanBeSetAllTheSame() {
        RunSpec spec = goodSpec();
        spec.data.train.clear();
        QVERIFY(!check(spec));
        QVERIFY(changeSetting(spec, "optimizer.clip", "2"));
        QCOMPARE(spec.optimizer.clip, 2.0);
    }
};

QTEST_GUILESS_MAIN(TestSpec)
#include "tst_spec.moc"
