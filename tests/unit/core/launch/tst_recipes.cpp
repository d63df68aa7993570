// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/launch/recipes.h"

#include <QTemporaryDir>
#include <QTest>

#include <fstream>

using namespace rm;

class TestRecipes : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyRecipePassesItsCheck();
    void overridesWin();
    void theLastOfStepsAndEpochsDecides();
    void anUnknownRecipeNamesTheKnownOnes();
    void badOverridesAreNamed_data();
    void badOverridesAreNamed();
    void aBareWordIsToldWhatIsWanted_data();
    void aBareWordIsToldWhatIsWanted();
    void quotesInAWordAreOfTheWord();
    void aMissingFileIsNotFound();
    void dataOfARecipeHaveACommandThatBringsThem();
    void filesOfOtherKindsAreNoDataOfARecipe_data();
    void filesOfOtherKindsAreNoDataOfARecipe();
};

/// A folder that is there may have none of what is read, and none of it is installed then.
void TestRecipes::filesOfOtherKindsAreNoDataOfARecipe_data() {
    QTest::addColumn<QString>("recipe");
    QTest::addColumn<QStringList>("files");
    QTest::addColumn<bool>("areData");
    QTest::newRow("no catalogue") << "translation-tiny" << QStringList{"it/x.qm", "it/README"}
                                  << false;
    QTest::newRow("catalogues") << "translation-tiny" << QStringList{"it/x.qm", "it/git.mo"}
                                << true;
    QTest::newRow("no picture") << "resnet-tiny" << QStringList{"apps/index.theme"} << false;
    QTest::newRow("pictures") << "resnet-tiny" << QStringList{"apps/a.PNG"} << true;
    QTest::newRow("no text") << "gpt-tiny" << QStringList() << false;
    QTest::newRow("any text") << "gpt-tiny" << QStringList{"BSD"} << true;
}

void TestRecipes::filesOfOtherKindsAreNoDataOfARecipe() {
    QFETCH(QString, recipe);
    QFETCH(QStringList, files);
    QFETCH(bool, areData);
    const auto spec = loadSpecOrRecipe(recipe.toStdString(), {});
    QVERIFY(spec);
    std::vector<std::string> names;
    for (const QString& file : files)
        names.push_back(file.toStdString());
    QCOMPARE(haveNoDataOf(**spec, names), !areData);
}

void TestRecipes::dataOfARecipeHaveACommandThatBringsThem() {
    QCOMPARE(whatBrings("/usr/share/icons/oxygen/base/64x64"),
             std::string("sudo apt install oxygen-icon-theme"));
    QVERIFY(whatBrings("/usr/share/locale/it/LC_MESSAGES").starts_with("sudo apt install "));
    QVERIFY(whatBrings("/data/of/mine").empty());
    for (const Recipe& recipe : recipes())
        QVERIFY2(!recipe.description.contains("sudo"), qPrintable(recipe.description));
}

void TestRecipes::everyRecipePassesItsCheck() {
    QVERIFY(!recipes().empty());
    for (const Recipe& recipe : recipes()) {
        const auto spec = loadSpecOrRecipe(recipe.name.toStdString(), {});
        QVERIFY2(spec, spec ? "" : spec.error().message.c_str());
        QVERIFY2(!recipe.brief.isEmpty() && !recipe.description.isEmpty(), qPrintable(recipe.path));
    }
}

void TestRecipes::overridesWin() {
    const auto spec =
        loadSpecOrRecipe("gpt-tiny", {"train.steps=7", "optimizer.lr=0.5", "name=other",
                                      "data.train=[\"/x\"]", "schedule.warmup_steps=1"});
    QVERIFY2(spec, spec ? "" : spec.error().message.c_str());
    QCOMPARE((*spec)->train.steps, 7);
    QCOMPARE((*spec)->optimizer.lr, 0.5);
    QCOMPARE((*spec)->name, std::string("other"));
    QCOMPARE((*spec)->data.train, std::vector<std::string>{"/x"});
}

void TestRecipes::anUnknownRecipeNamesTheKnownOnes() {
    const auto spec = loadSpecOrRecipe("gpt-tinny", {});
    QVERIFY(!spec);
    QCOMPARE(spec.error().code, ErrorCode::kNotFound);
    QVERIFY(spec.error().message.find("gpt-tiny") != std::string::npos);
}

void TestRecipes::badOverridesAreNamed_data() {
    QTest::addColumn<QString>("text");
    QTest::newRow("no value") << "train.steps";
    QTest::newRow("unknown key") << "train.stepss=3";
    QTest::newRow("wrong type") << "train.steps=many";
    QTest::newRow("out of bounds") << "train.steps=-4";
    QTest::newRow("a second key by newline") << "train.steps=3\nseed=4";
}

void TestRecipes::theLastOfStepsAndEpochsDecides() {
    const auto steps = loadSpecOrRecipe("translation-tiny", {"train.steps=200"});
    QVERIFY2(steps, steps ? "" : steps.error().message.c_str());
    QCOMPARE((*steps)->train.steps, int64_t{200});
    QCOMPARE((*steps)->train.epochs, int64_t{0}); // which would win
    const auto epochs = loadSpecOrRecipe("translation-tiny", {"train.steps=200", "train.epochs=2"});
    QVERIFY2(epochs, epochs ? "" : epochs.error().message.c_str());
    QCOMPARE((*epochs)->train.epochs, int64_t{2});
}

void TestRecipes::badOverridesAreNamed() {
    QFETCH(QString, text);
    const auto spec = loadSpecOrRecipe("gpt-tiny", {text.toStdString()});
    if (text.contains('\n')) {
        // What follows the newline is TOML of its own and must not reach the spec.
        QVERIFY(!spec || (*spec)->seed != 4);
        return;
    }
    QVERIFY(!spec);
    QCOMPARE(spec.error().code, ErrorCode::kInvalid);
    QVERIFY2(spec.error().message.find("train.steps") != std::string::npos,
             spec.error().message.c_str());
}

void TestRecipes::aBareWordIsToldWhatIsWanted_data() {
    QTest::addColumn<QString>("text");
    QTest::addColumn<QString>("told");
    QTest::newRow("key with a typo") << "nmae=x"
                                     << "did you mean \"name\"";
    QTest::newRow("a word for a number") << "train.steps=abc"
                                         << "but must be a whole number";
    QTest::newRow("a word for a list") << "data.train=/nope"
                                       << "but must be a list";
}

void TestRecipes::aBareWordIsToldWhatIsWanted() {
    QFETCH(QString, text);
    QFETCH(QString, told);
    const auto spec = loadSpecOrRecipe("gpt-tiny", {text.toStdString()});
    QVERIFY(!spec);
    QVERIFY2(spec.error().message.find(told.toStdString()) != std::string::npos,
             spec.error().message.c_str());
}

void TestRecipes::quotesInAWordAreOfTheWord() {
    const auto spec = loadSpecOrRecipe("gpt-tiny", {"name=it's \"q\""});
    QVERIFY2(spec, spec ? "" : spec.error().message.c_str());
    QCOMPARE((*spec)->name, std::string("it's \"q\""));
}

void TestRecipes::aMissingFileIsNotFound() {
    const auto spec = loadSpecOrRecipe("/no/such/spec.toml", {});
    QVERIFY(!spec);
    QCOMPARE(spec.error().code, ErrorCode::kNotFound);
    const QString said = QString::fromStdString(spec.error().message);
    QVERIFY2(said.contains("/no/such/spec.toml"), qPrintable(said));
    QVERIFY2(said.endsWith("ringmaster recipes gpt > my-run.toml"), qPrintable(said));
}

QTEST_GUILESS_MAIN(TestRecipes)
#include "tst_recipes.moc"
