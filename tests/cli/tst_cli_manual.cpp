// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/manual/manual.h"
#include "shared/exit_code.h"
#include "tests/cli/own_folders.h"

#include <QDir>
#include <QFile>
#include <QJsonArray>
#include <QJsonObject>
#include <QMap>
#include <QProcess>
#include <QRegularExpression>
#include <QTest>

using namespace rm;

namespace {

/// Of a program's command: what `--help` says, and the commands below it.
struct CommandHelp {
    QByteArray text; ///< empty: there is no such command
    QStringList commands;
};

/// The words of a line of a shell, without what stands behind #; quotes hold words together.
QStringList wordsOf(const QString& line) {
    static const QRegularExpression comment("\\s+#\\s.*$");
    return QProcess::splitCommand(QString(line).remove(comment).replace('\'', '"'));
}

} // namespace

/// The manual, and whether what it says can be followed.
class TestCliManual : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void everyFileIsATopicOfTheIndex();
    void everyTopicSaysForWhatOneOpensIt();
    void everyLinkLeadsToATopic();
    void everyCommandLineIsUnderstood();
    void everyCommandIsInTheManual();
    void aTopicIsPrinted();
    void anUnknownTopicIsMetWithThoseThatThereAre();
    void wordsAreFoundInAnyCase();
    void aBrokenListOfNodesIsInNobodysWay();

private:
    const CommandHelp& helpOf(const QStringList& command);
    QString flawOf(const QStringList& words);
    void collect(const QStringList& command, QStringList& all);

    OwnFolders m_own;
    std::optional<Manual> m_manual;
    QMap<QString, CommandHelp> m_help; ///< by command
};

void TestCliManual::initTestCase() {
    auto manual = Manual::read();
    QVERIFY2(manual, manual ? "" : manual.error().message.c_str());
    m_manual = std::move(*manual);
    QVERIFY(m_manual->topics().size() > 10);
}

void TestCliManual::everyFileIsATopicOfTheIndex() {
    const QDir folder(qEnvironmentVariable("RINGMASTER_SOURCE") + "/resources/manual");
    QStringList names;
    for (const ManualTopic& topic : m_manual->topics())
        names << topic.name + ".md";
    names.sort();
    QCOMPARE(folder.entryList({"*.md"}, QDir::Files, QDir::Name), names);
}

void TestCliManual::everyTopicSaysForWhatOneOpensIt() {
    for (const ManualTopic& topic : m_manual->topics()) {
        QVERIFY2(topic.text.startsWith("# " + topic.title + "\n\n"), qPrintable(topic.name));
        QVERIFY2(topic.purpose.endsWith('.'), qPrintable(topic.name));
        for (const QString& line : topic.text.split('\n')) // as a terminal has them
            QVERIFY2(line.size() <= 120, qPrintable(topic.name + ": " + line));
    }
}

/// Headings are looked for by tst_documents.
void TestCliManual::everyLinkLeadsToATopic() {
    static const QRegularExpression link("\\]\\(([^)]*)\\)");
    static const QRegularExpression target("^([a-z-]+)\\.md(#.+)?$|^#.+$");
    int links = 0;
    for (const ManualTopic& topic : m_manual->topics())
        for (auto found = link.globalMatch(topic.text); found.hasNext(); ++links) {
            const QString text = found.next().captured(1);
            const auto parts = target.match(text);
            const QString where = topic.name + ": " + text;
            QVERIFY2(parts.hasMatch(), qPrintable(where));
            const QString name = parts.captured(1).isEmpty() ? topic.name : parts.captured(1);
            QVERIFY2(m_manual->topic(name), qPrintable(where));
        }
    QVERIFY(links > 20);
}

const CommandHelp& TestCliManual::helpOf(const QStringList& command) {
    const QString key = command.join(' ');
    if (m_help.contains(key))
        return m_help[key];
    QProcess process;
    process.start(qEnvironmentVariable("RINGMASTER_BIN") + '/' + command.front(),
                  command.mid(1) + QStringList{"--help"});
    CommandHelp help;
    if (process.waitForFinished(60000) && process.exitCode() == 0)
        help.text = process.readAllStandardOutput();
    bool isList = false;
    for (const QByteArray& line : help.text.split('\n')) {
        if (line.startsWith("Subcommands:") || line.startsWith("Besides training:"))
            isList = true;
        else if (isList && line.startsWith("  ") && line.size() > 2 && line[2] != ' ')
            help.commands << QString::fromUtf8(line.simplified().split(' ').front());
        else if (!line.startsWith(' '))
            isList = false;
    }
    return m_help.insert(key, help).value();
}

/// "" or why the program would not take these words: a command or an option that is not there.
QString TestCliManual::flawOf(const QStringList& words) {
    QStringList command{words.front()};
    qsizetype at = 1;
    while (at < words.size() && helpOf(command).commands.contains(words[at]))
        command << words[at++];
    const CommandHelp& help = helpOf(command);
    if (help.text.isEmpty())
        return "there is no command " + command.join(' ');
    if (at < words.size() && !help.commands.isEmpty() && !words[at].startsWith('-') &&
        !help.text.contains("Positionals:"))
        return command.join(' ') + " has no command " + words[at];
    for (; at < words.size(); ++at) {
        const QString option = words[at].section('=', 0, 0);
        static const QRegularExpression isOption("^--?[a-z]");
        const QRegularExpression inHelp("(^|[\\s,])" + QRegularExpression::escape(option) +
                                        "([\\s,]|$)");
        if (isOption.match(option).hasMatch() &&
            !inHelp.match(QString::fromUtf8(help.text)).hasMatch())
            return command.join(' ') + " has no option " + option;
    }
    return {};
}

void TestCliManual::everyCommandLineIsUnderstood() {
    int lines = 0;
    QStringList flaws;
    for (const ManualTopic& topic : m_manual->topics()) {
        bool isShell = false;
        for (const QString& line : topic.text.split('\n')) {
            if (line.startsWith("```")) {
                isShell = line == "```sh";
                continue;
            }
            const QStringList words = isShell ? wordsOf(line) : QStringList();
            if (words.isEmpty())
                continue;
            ++lines;
            const bool isOurs =
                words.front() == "ringmaster" || words.front() == "ringmaster-trainer";
            const bool isScript =
                words.front().startsWith("packaging/") &&
                QFile::exists(qEnvironmentVariable("RINGMASTER_SOURCE") + '/' + words.front());
            const QString flaw = isOurs     ? flawOf(words)
                                 : isScript ? QString()
                                            : "neither our program nor a script of ours";
            if (!flaw.isEmpty())
                flaws << topic.name + ": " + line + ": " + flaw;
        }
    }
    QVERIFY2(flaws.isEmpty(), qPrintable(flaws.join('\n')));
    QVERIFY(lines > 50);
}

void TestCliManual::collect(const QStringList& command, QStringList& all) {
    for (const QString& below : QStringList(helpOf(command).commands)) {
        all << (command + QStringList{below}).join(' ');
        collect(command + QStringList{below}, all);
    }
}

void TestCliManual::everyCommandIsInTheManual() {
    const auto list = m_manual->topic("commands");
    QVERIFY(list);
    QStringList all, missing;
    collect({"ringmaster"}, all);
    QVERIFY(all.size() > 40);
    for (const QString& command : all) {
        const QRegularExpression named(
            "`(ringmaster )?" + QRegularExpression::escape(command.section(' ', 1)) + "[ `]");
        if (!named.match(list->text).hasMatch())
            missing << command;
    }
    QVERIFY2(missing.isEmpty(), qPrintable("not in commands.md: " + missing.join(", ")));
}

void TestCliManual::aTopicIsPrinted() {
    const Answer index = m_own.run({"help"});
    QVERIFY2(index.exitCode == 0, index.whole());
    QVERIFY2(index.out.contains("launch"), index.whole());
    const Answer launch = m_own.run({"help", "launch", "--json"});
    QVERIFY2(launch.exitCode == 0, launch.whole());
    const auto topic = m_manual->topic("launch");
    QVERIFY(topic);
    QCOMPARE(launch.json()["text"].toString(), topic->text);
    QCOMPARE(launch.json()["title"].toString(), topic->title);
}

void TestCliManual::anUnknownTopicIsMetWithThoseThatThereAre() {
    const Answer answer = m_own.run({"help", "lunch"});
    QCOMPARE(answer.exitCode, static_cast<int>(ExitCode::kNotFound));
    QVERIFY2(answer.err.contains("help lunch") && answer.err.contains("checkpoints"),
             answer.whole());
}

void TestCliManual::wordsAreFoundInAnyCase() {
    const Answer answer = m_own.run({"help", "--search", "SLURM sbatch", "--json"});
    QVERIFY2(answer.exitCode == 0, answer.whole());
    const QJsonArray hits = answer.json().array();
    QVERIFY2(!hits.isEmpty(), answer.whole());
    for (const QJsonValue hit : hits) {
        const QString text = hit["text"].toString();
        QVERIFY2(text.contains("slurm", Qt::CaseInsensitive) &&
                     text.contains("sbatch", Qt::CaseInsensitive) && !text.contains('`'),
                 qPrintable(text));
    }
    // The example of the index.
    bool isElsewhere = false;
    const Answer example = m_own.run({"help", "--search", "learning rate", "--json"});
    for (const QJsonValue hit : example.json().array())
        isElsewhere = isElsewhere || hit["topic"].toString() != kManualIndex;
    QVERIFY2(isElsewhere, example.whole());
    const Answer none = m_own.run({"help", "--search", "zebra"});
    QVERIFY2(none.exitCode == 0 && none.out.isEmpty() && none.err.contains("zebra"), none.whole());
}

void TestCliManual::aBrokenListOfNodesIsInNobodysWay() {
    const QString folder = m_own.path("config/ringmaster");
    QVERIFY(QDir().mkpath(folder));
    QFile nodes(folder + "/nodes.toml");
    QVERIFY(nodes.open(QIODevice::WriteOnly));
    nodes.write("not TOML = = =");
    nodes.close();
    const Answer answer = m_own.run({"help", "nodes"});
    QVERIFY2(answer.exitCode == 0 && answer.err.isEmpty(), answer.whole());
}

QTEST_GUILESS_MAIN(TestCliManual)
#include "tst_cli_manual.moc"
