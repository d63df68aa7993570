// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/findings/tables.h"

#include <QCoreApplication>
#include <QDirIterator>
#include <QHash>
#include <QRegularExpression>
#include <QSet>
#include <QTest>
#include <QTranslator>

using namespace rm;

namespace {

/// A language that marks every text, and leaves its places.
class Marked : public QTranslator {
public:
    QString translate(const char* context, const char* source, const char*, int) const override {
        return QString::fromLatin1(context) == "Findings" ? '<' + QString::fromUtf8(source) + '>'
                                                          : QString();
    }
    bool isEmpty() const override { return false; }
};

/// One text of a table, with what is to be true of it.
struct Row {
    QString id;
    std::vector<QString> texts; ///< a finding's title, evidence, cause and fix, or a phrase
};

std::vector<FindingText> findings() {
    std::vector<FindingText> all;
    for (const TextTable& table : textTables())
        all.insert(all.end(), table.findings.begin(), table.findings.end());
    return all;
}

std::vector<Phrase> phrases() {
    std::vector<Phrase> all;
    for (const TextTable& table : textTables())
        all.insert(all.end(), table.phrases.begin(), table.phrases.end());
    return all;
}

std::vector<Row> rows() {
    std::vector<Row> all;
    for (const FindingText& text : findings())
        all.push_back({text.id, {text.title, text.evidence, text.cause, text.fix}});
    for (const Phrase& phrase : phrases())
        all.push_back({phrase.id, {phrase.text}});
    return all;
}

/// The places of a text; one that is no name is named as a fault.
QStringList placesOf(const QString& text) {
    QStringList places;
    static const QRegularExpression brace("\\{([^{}]*)\\}");
    for (auto each = brace.globalMatch(text); each.hasNext();)
        places << each.next().captured(1);
    return places;
}

/// All sources of the app but the tables, as one text.
QString sources() {
    QString all;
    const QString app = qEnvironmentVariable("RINGMASTER_SOURCE") + "/app";
    for (QDirIterator at(app, {"*.cpp", "*.h"}, QDir::Files, QDirIterator::Subdirectories);
         at.hasNext();) {
        const QString path = at.next();
        QFile file(path);
        if (!path.endsWith("_texts.cpp") && file.open(QIODevice::ReadOnly))
            all += QString::fromUtf8(file.readAll());
    }
    return all;
}

} // namespace

/// The tables of what findings say: the words that the app shows of nodes, launches and runs.
class TestTexts : public QObject {
    Q_OBJECT

private Q_SLOTS:
    void everyTextStandsOnceAndIsUsed() {
        const QString all = sources();
        QVERIFY2(all.size() > 1'000'000, "the sources of the app were not found");
        QSet<QString> ids;
        for (const Row& row : rows()) {
            QVERIFY2(!ids.contains(row.id), qPrintable(row.id + " stands twice"));
            ids << row.id;
            QVERIFY2(all.contains('"' + row.id + '"'), qPrintable(row.id + " is used nowhere"));
        }
        QVERIFY(ids.size() > 300);
    }

    void noPhraseSaysWhatAnotherSays() {
        QHash<QString, QString> ids; // by their texts
        for (const Phrase& phrase : phrases()) {
            const QString text = phrase.text;
            if (!text.contains(' ')) // one word may be several in another language
                continue;
            QVERIFY2(!ids.contains(text), qPrintable(ids[text] + " and " + phrase.id));
            ids[text] = phrase.id;
        }
    }

    void everyPlaceHasAName() {
        static const QRegularExpression name("^[a-z]+(-[a-z]+)*$");
        for (const Row& row : rows())
            for (const QString& text : row.texts) {
                QString left = text;
                for (const QString& place : placesOf(text)) {
                    QVERIFY2(name.match(place).hasMatch(), qPrintable(row.id + ": " + place));
                    left.remove('{' + place + '}');
                }
                QVERIFY2(!left.contains('{') && !left.contains('}'), qPrintable(row.id));
                QVERIFY2(text == text.trimmed() || text.startsWith("; "), qPrintable(row.id));
            }
    }

    void everyWarningAndFaultSaysWhatToDo() {
        for (const FindingText& text : findings()) {
            const bool isGood = text.state == CheckRow::State::kGood;
            QVERIFY2(isGood == (*text.fix == '\0'), text.id);
            QVERIFY2(*text.evidence != '\0' || !isGood, text.id);
        }
    }

    void everyTextIsRenderedWithItsValues() {
        // Values with braces are no places.
        const std::string odd = "{x} 12.0 GB {";
        QCOMPARE(say("node.room", {{"free", odd}, {"total", "b"}, {"home", "{free}"}}),
                 odd + " free of b for {free}");
        const CheckRow row = finding("glibc.old", {{"glibc", "2.31"}, {"needed", "2.36"}});
        QCOMPARE(row.id, std::string("glibc"));
        QCOMPARE(row.state, CheckRow::State::kBad);
        QCOMPARE(row.title, std::string("glibc"));
        QCOMPARE(row.evidence, std::string("2.31; the trainer needs 2.36"));
        QVERIFY(row.fix.starts_with("update the node to a system with glibc 2.36 or later"));
    }

    void furtherFindingsJoinTheirRow() {
        CheckRow row = finding("limits", {{"locked", "a"}, {"files", "b"}, {"shared", "c"}});
        addFinding(row, "limits.few-files");
        addFinding(row, "limits.few-files");
        addFinding(row, "limits.locked-memory", {{"device", "mlx5_0"}});
        QCOMPARE(row.state, CheckRow::State::kWarning);
        QCOMPARE(row.evidence, std::string("locked memory a, open files b, /dev/shm c"));
        QCOMPARE(row.cause,
                 std::string("ranks of many nodes run out of open files; NCCL cannot register "
                             "memory with mlx5_0 and falls back to TCP"));
    }

    /// Each text is looked up in the language of the process, and nothing of it is English but what
    /// is a value.
    void everyTextIsTranslated() {
        Marked language;
        QVERIFY(QCoreApplication::installTranslator(&language));
        const CheckRow row = finding("glibc.old", {{"glibc", "2.31"}, {"needed", "2.36"}});
        const std::string list = listed({"a", "b"});
        QCoreApplication::removeTranslator(&language);
        QCOMPARE(row.title, std::string("<glibc>"));
        QCOMPARE(row.evidence, std::string("<2.31; the trainer needs 2.36>"));
        QVERIFY(row.cause.starts_with('<') && row.fix.ends_with('>'));
        QCOMPARE(list, std::string("<a and b>"));
    }

    void whatIsCancelledSaysSoBehindItsAttempt() {
        const Error error = failCancelled("launch gpt-1").value();
        QVERIFY(error.code == ErrorCode::kUnavailable);
        QCOMPARE(error.message, std::string("launch gpt-1: cancelled"));
    }

    void listsReadAsSentencesHaveThem() {
        QCOMPARE(listed({}), std::string());
        QCOMPARE(listed({"a"}), std::string("a"));
        QCOMPARE(listed({"a", "b", "c"}), std::string("a, b and c"));
        QCOMPARE(orListed({"a", "b", "c"}), std::string("a, b or c"));
        QCOMPARE(someOf({"a", "b", "c"}, 2), std::string("a, b and 1 more"));
        QCOMPARE(someOf({"a", "b"}, 2), std::string("a, b"));
    }
};

QTEST_GUILESS_MAIN(TestTexts)
#include "tst_texts.moc"
