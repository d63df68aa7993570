// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "shared/spec/run_spec.h"
#include "shared/spec/toml_edit.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <QDir>

#include <algorithm>

using namespace rm;

namespace {

constexpr int kLongestValue = 5; ///< lines of one value in a recipe: a list of three paths

const SpecField& schemaField(std::string_view key) {
    return *std::ranges::find(specSchema(), key, &SpecField::key);
}

/// `toml` after a person changed `key` to what `spec` has.
std::string edited(const std::string& toml, std::string_view key, RunSpec spec) {
    const auto text = setTomlField(toml, "x", {key, schemaField(key).ref(spec)});
    return text ? *text : "refused: " + text.error().message;
}

std::string withLr(const std::string& toml, double lr) {
    RunSpec spec;
    spec.optimizer.lr = lr;
    return edited(toml, "optimizer.lr", spec);
}

std::string withName(const std::string& toml, const std::string& name) {
    RunSpec spec;
    spec.name = name;
    return edited(toml, "name", spec);
}

std::string withTrain(const std::string& toml, std::vector<std::string> paths) {
    RunSpec spec;
    spec.data.train = std::move(paths);
    return edited(toml, "data.train", spec);
}

int linesThatDiffer(const std::string& a, const std::string& b) {
    const auto lines = [](const std::string& text) {
        return QString::fromStdString(text).split('\n');
    };
    const QStringList one = lines(a), two = lines(b);
    int count = static_cast<int>(std::abs(one.size() - two.size()));
    for (qsizetype i = 0; i < std::min(one.size(), two.size()) && one.size() == two.size(); ++i)
        count += one[i] != two[i];
    return count;
}

} // namespace

class TestTomlEdit : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void oneValueChangesAndNothingElse() {
        QCOMPARE(withLr("# mine\n[optimizer]  # o\n  lr=2e-3\n\nclip = 1.0\n", 0.5),
                 std::string("# mine\n[optimizer]  # o\n  lr=0.5\n\nclip = 1.0\n"));
    }

    void aCommentBehindTheValueKeepsItsColumn() {
        QCOMPARE(withLr("[optimizer]\nlr = 2e-3      # small\n", 0.00025),
                 std::string("[optimizer]\nlr = 0.00025   # small\n"));
        QCOMPARE(withLr("[optimizer]\nlr = 0.00025   # small\n", 0.5),
                 std::string("[optimizer]\nlr = 0.5       # small\n"));
        QCOMPARE(withLr("[optimizer]\nlr = 1.0  # small\n", 0.00025),
                 std::string("[optimizer]\nlr = 0.00025 # small\n"));
        QCOMPARE(withLr("[optimizer]\nlr = 1.0 # small\n", 0.25),
                 std::string("[optimizer]\nlr = 0.25 # small\n"));
    }

    void columnsAreCountedInLettersNotBytes() {
        QCOMPARE(withName("name = \"\u00e9\u4e16\" # \u03a9\nseed = 1\n", "\u043f\u0440"),
                 std::string("name = \"\u043f\u0440\" # \u03a9\nseed = 1\n"));
        QCOMPARE(withLr("# \u00e9\u4e16\n[optimizer]\n\"lr\" = 1.0\n", 2),
                 std::string("# \u00e9\u4e16\n[optimizer]\n\"lr\" = 2.0\n"));
    }

    void aListOfSeveralLinesIsReplacedWhole() {
        QCOMPARE(
            withTrain("[data]\ntrain = [ # all\n  \"a\", # one\n  'b' ]  # end\nstage = true\n",
                      {"/c"}),
            std::string("[data]\ntrain = [ \"/c\" ]  # end\nstage = true\n"));
    }

    void textsOfSeveralLinesAreReplacedWhole() {
        QCOMPARE(withName("name = \"\"\"\na\nb\"\"\" # n\nseed = 1\n", "c"),
                 std::string("name = \"c\" # n\nseed = 1\n"));
    }

    void hostileTextsStayTexts_data() {
        QTest::addColumn<QByteArray>("name");
        for (const char* name : {"", "a\"b", "a'b", "a\nb", "# no comment", "[x]", "\\", "a\tb"})
            QTest::newRow(name) << QByteArray(name);
    }

    void hostileTextsStayTexts() {
        QFETCH(QByteArray, name);
        const std::string text = withName("name = \"x\"  # mine\n", name.toStdString());
        const auto spec = parseRunSpec(text, "x");
        RM_OK(spec);
        QCOMPARE(spec->name, name.toStdString());
        QVERIFY2(text.ends_with("# mine\n"), text.c_str());
    }

    void aMissingKeyIsAddedBehindTheOthersOfItsSection() {
        QCOMPARE(
            withLr("[optimizer]\n  clip = 1.0 # c\n  # last words\n\n[model]\nlayers = 1\n", 0.5),
            std::string("[optimizer]\n  clip = 1.0 # c\n  lr = 0.5\n  # last words\n\n[model]\n"
                        "layers = 1\n"));
        QCOMPARE(withLr("[optimizer] # empty\n[model]\n", 0.5),
                 std::string("[optimizer] # empty\nlr = 0.5\n[model]\n"));
        QCOMPARE(withLr("[optimizer]\nclip = 1.0", 0.5),
                 std::string("[optimizer]\nclip = 1.0\nlr = 0.5"));
    }

    void aMissingSectionIsAddedAtTheEnd() {
        QCOMPARE(withLr("", 0.5), std::string("[optimizer]\nlr = 0.5\n"));
        QCOMPARE(withLr("seed = 1", 0.5), std::string("seed = 1\n\n[optimizer]\nlr = 0.5\n"));
    }

    void aMissingNameGoesWhereNoSectionIs() {
        QCOMPARE(withName("# what\n# it is\n[model]\nlayers = 1\n", "a"),
                 std::string("# what\n# it is\nname = \"a\"\n[model]\nlayers = 1\n"));
        QCOMPARE(withName("seed = 1\n[model]\nlayers = 1\n", "a"),
                 std::string("seed = 1\nname = \"a\"\n[model]\nlayers = 1\n"));
        QCOMPARE(withName("", "a"), std::string("name = \"a\"\n"));
    }

    void otherWaysToWriteASectionAreKept() {
        QCOMPARE(withLr("optimizer = {clip = 1.0, lr = 0.1} # o\n", 0.5),
                 std::string("optimizer = {clip = 1.0, lr = 0.5} # o\n"));
        QCOMPARE(withLr("optimizer = { clip = 1.0 } # o\n", 0.5),
                 std::string("optimizer = { clip = 1.0, lr = 0.5 } # o\n"));
        QCOMPARE(withLr("optimizer = {} # o\n", 0.5),
                 std::string("optimizer = { lr = 0.5 } # o\n"));
        QCOMPARE(withLr("optimizer.clip = 1.0 # o\nseed = 1\n", 0.5),
                 std::string("optimizer.clip = 1.0 # o\noptimizer.lr = 0.5\nseed = 1\n"));
    }

    void whatIsNoTomlIsRefusedWithItsPlace() {
        const std::string broken = withLr("[optimizer]\nlr = = 1\n", 0.5);
        QVERIFY2(broken.starts_with("refused: read x: line 2, column "), broken.c_str());
        QVERIFY(withLr("[optimizer.lr]\nx = 1\n", 0.5).starts_with("refused: "));
    }

    void everyFieldOfEveryRecipeCanBeEdited_data() {
        QTest::addColumn<QString>("path");
        const QDir recipes(qEnvironmentVariable("RINGMASTER_SOURCE") + "/resources/recipes");
        for (const QString& name : recipes.entryList({"*.toml"}))
            QTest::newRow(qPrintable(name)) << recipes.filePath(name);
    }

    void everyFieldOfEveryRecipeCanBeEdited() {
        QFETCH(QString, path);
        const auto text = readFile(path.toStdString());
        RM_OK(text);
        RunSpec wanted = example::spec();
        for (const SpecField& field : specSchema()) {
            const std::string now = edited(*text, field.key, wanted);
            RunSpec expected = *parseRunSpec(*text, "x");
            std::visit([&](auto* to) { *to = *std::get<decltype(to)>(field.ref(wanted)); },
                       field.ref(expected));
            const auto read = parseRunSpec(now, "x");
            RM_OK(read);
            QVERIFY2(*read == expected, std::string(field.key).c_str());
            QVERIFY2(linesThatDiffer(*text, now) <= kLongestValue, now.c_str());
        }
    }
};

QTEST_GUILESS_MAIN(TestTomlEdit)
#include "tst_toml_edit.moc"
