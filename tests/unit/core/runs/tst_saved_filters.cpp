// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/settings/paths.h"
#include "app/core/settings/saved_filters.h"

#include <QFile>
#include <QSettings>
#include <QTemporaryDir>
#include <QTest>

namespace rm {

class TestSavedFilters : public QObject {
    Q_OBJECT
private:
    QTemporaryDir m_folder;
    Paths paths() const {
        return {m_folder.path(), m_folder.path(), m_folder.path(), m_folder.path()};
    }
    QStringList names() const {
        QStringList names;
        for (const SavedFilter& filter : savedFilters(paths()))
            names << filter.name;
        return names;
    }

private Q_SLOTS:
    void init() { QFile::remove(paths().settings()); }

    void whatIsSavedIsReadByName() {
        QVERIFY(savedFilters(paths()).empty());
        QVERIFY(saveFilter(paths(), {"good ones", "loss < 3 tag:\"two words\", 100 %"}));
        QVERIFY(saveFilter(paths(), {"Bad", "state:failed"}));
        QCOMPARE(names(), (QStringList{"Bad", "good ones"}));
        QCOMPARE(*filterMeant(paths(), "@good ones"), QString("loss < 3 tag:\"two words\", 100 %"));
        QCOMPARE(*filterMeant(paths(), " @Bad "), QString("state:failed"));
        QCOMPARE(*filterMeant(paths(), "loss < 3 @Bad"), QString("loss < 3 @Bad")); // a word
    }

    void oneOfTheSameNameIsReplaced() {
        QVERIFY(saveFilter(paths(), {"mine", "loss < 3"}));
        QVERIFY(saveFilter(paths(), {"mine", "loss < 2"}));
        QCOMPARE(savedFilters(paths()), (std::vector<SavedFilter>{{"mine", "loss < 2"}}));
    }

    void theyAreRenamedAndRemoved() {
        QVERIFY(saveFilter(paths(), {"a", "loss < 3"}));
        QVERIFY(saveFilter(paths(), {"b", "loss < 2"}));
        QCOMPARE(renameFilter(paths(), "a", "b").error().code, ErrorCode::kInvalid);
        QVERIFY(renameFilter(paths(), "a", "a"));
        QVERIFY(renameFilter(paths(), "a", "c"));
        QCOMPARE(names(), (QStringList{"b", "c"}));
        QVERIFY(removeFilter(paths(), "b"));
        QCOMPARE(names(), QStringList{"c"}); // nothing of what was removed is left
        QCOMPARE(removeFilter(paths(), "b").error().code, ErrorCode::kNotFound);
        QCOMPARE(renameFilter(paths(), "b", "d").error().code, ErrorCode::kNotFound);
    }

    void whatIsNoFilterIsRefused() {
        for (const char* name : {"", " ", " a", "two\nlines"})
            QCOMPARE(saveFilter(paths(), {name, "loss < 3"}).error().code, ErrorCode::kInvalid);
        for (const char* text : {"", "  ", "a\nb"})
            QCOMPARE(saveFilter(paths(), {"mine", text}).error().code, ErrorCode::kInvalid);
        QVERIFY(names().isEmpty());
        const auto none = filterMeant(paths(), "@mine");
        QCOMPARE(none.error().code, ErrorCode::kNotFound);
        QVERIFY(saveFilter(paths(), {"yours", "loss < 3"}));
        const std::string said = filterMeant(paths(), "@mine").error().message;
        QVERIFY2(said.find("these are kept: yours") != std::string::npos, said.c_str());
    }

    void allButControlCharactersAreKept() {
        const SavedFilter filter{QString::fromUtf8("\xf0\x9f\x94\xa5 hot"),
                                 QString::fromUtf8("loss < 3\ttag:\xf0\x9f\x94\xa5")};
        QVERIFY(saveFilter(paths(), filter));
        QCOMPARE(savedFilters(paths()), (std::vector<SavedFilter>{filter}));
        const auto says = [&](const SavedFilter& refused, const char* words) {
            const auto saved = saveFilter(paths(), refused);
            return !saved && saved.error().code == ErrorCode::kInvalid &&
                   saved.error().message.find(words) != std::string::npos;
        };
        QVERIFY(says({"a\nb", "x"}, "the name has a line break"));
        QVERIFY(says({"a\tb", "x"}, "the name has a tab"));
        QVERIFY(says({"a", "x\ny"}, "the filter has a line break"));
        QVERIFY(says({"a", "x\x1by"}, "the filter has the control character U+001B"));
    }

    void otherSettingsStayAsTheyAre() {
        QSettings(paths().settings(), QSettings::IniFormat).setValue("theme", "dark");
        QVERIFY(saveFilter(paths(), {"mine", "loss < 3"}));
        QCOMPARE(QSettings(paths().settings(), QSettings::IniFormat).value("theme").toString(),
                 QString("dark"));
        QCOMPARE(QFile(paths().settings()).permissions() &
                     (QFile::ReadGroup | QFile::ReadOther | QFile::WriteGroup | QFile::WriteOther),
                 QFile::Permissions());
    }
};

} // namespace rm

QTEST_GUILESS_MAIN(rm::TestSavedFilters)
#include "tst_saved_filters.moc"
