// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/manual/manual.h"

#include <QDir>
#include <QDirIterator>
#include <QFileInfo>
#include <QRegularExpression>
#include <QSet>
#include <QTest>

#include <algorithm>

using namespace rm;

namespace {

QString root() {
    return qEnvironmentVariable("RINGMASTER_SOURCE");
}

QString textOf(const QString& path) {
    QFile file(path);
    return file.open(QIODevice::ReadOnly) ? QString::fromUtf8(file.readAll()) : QString();
}

/// The documents of the tree, by their paths in it.
QStringList documents() {
    QStringList all = QDir(root()).entryList({"*.md"}, QDir::Files);
    for (const char* folder : {"app", "trainer", "shared", "resources", "tests", "packaging"})
        for (QDirIterator at(root() + '/' + folder, {"*.md"}, QDir::Files,
                             QDirIterator::Subdirectories);
             at.hasNext();)
            all << QDir(root()).relativeFilePath(at.next());
    return all;
}

bool hasHeading(const QString& text, const QString& anchor) {
    const QStringList lines = text.split('\n');
    return std::any_of(lines.begin(), lines.end(), [&](const QString& line) {
        return line.startsWith('#') && anchorOf(line.section(' ', 1)) == anchor;
    });
}

} // namespace

/// What stands in the documents of the source tree.
class TestDocuments : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyLinkLeadsSomewhere();
    void theFirstDocumentsAreShort();
    void everyPromiseNamesTestsThatThereAre();
};

void TestDocuments::everyLinkLeadsSomewhere() {
    static const QRegularExpression link("\\]\\(([^)\\s]+)\\)");
    QStringList dead;
    int links = 0;
    for (const QString& document : documents()) {
        const QString text = textOf(root() + '/' + document);
        for (auto found = link.globalMatch(text); found.hasNext();) {
            const QString target = found.next().captured(1);
            if (target.startsWith("http"))
                continue;
            ++links;
            const QString path = target.section('#', 0, 0), anchor = target.section('#', 1);
            const QString file = path.isEmpty()
                                     ? root() + '/' + document
                                     : QFileInfo(root() + '/' + document).path() + '/' + path;
            if (!QFileInfo::exists(file) ||
                (!anchor.isEmpty() && !hasHeading(textOf(file), anchor)))
                dead << document + ": " + target;
        }
    }
    QVERIFY2(dead.isEmpty(), qPrintable(dead.join('\n')));
    QVERIFY(links > 50);
}

void TestDocuments::theFirstDocumentsAreShort() {
    for (const auto& [document, most] : {std::pair("README.md", 110), {"ARCHITECTURE.md", 200}}) {
        const auto lines = textOf(root() + '/' + document).count('\n');
        QVERIFY2(lines > 50 && lines <= most,
                 qPrintable(QString("%1 has %2 lines").arg(document).arg(lines)));
    }
}

/// `tst_x` is a source, `someFunction` one of its functions.
void TestDocuments::everyPromiseNamesTestsThatThereAre() {
    const QString promises = textOf(root() + "/tests/PROMISES.md");
    QVERIFY(!promises.isEmpty());
    QSet<QString> tests, functions;
    static const QRegularExpression function("void (\\w+)\\(\\)");
    for (QDirIterator at(root() + "/tests", {"tst_*.cpp"}, QDir::Files,
                         QDirIterator::Subdirectories);
         at.hasNext();) {
        const QString path = at.next();
        tests << QFileInfo(path).baseName();
        for (auto found = function.globalMatch(textOf(path)); found.hasNext();)
            functions << found.next().captured(1);
    }
    static const QRegularExpression named("`(tst_\\w+|[a-z][a-z0-9]*([A-Z]\\w*)+)`");
    QStringList missing;
    int names = 0;
    for (auto found = named.globalMatch(promises); found.hasNext(); ++names) {
        const QString name = found.next().captured(1);
        if (!(name.startsWith("tst_") ? tests : functions).contains(name))
            missing << name;
    }
    QVERIFY2(missing.isEmpty(), qPrintable(missing.join('\n')));
    QVERIFY(names > 100);
}

QTEST_GUILESS_MAIN(TestDocuments)
#include "tst_documents.moc"
