// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/ssh_aliases.h"

#include "shared/io/file.h"

#include <QDir>
#include <QFileInfo>
#include <QProcess>
#include <QRegularExpression>

#include <glob.h>

#include <algorithm>

namespace rm {

namespace {

constexpr int kDeepest = 8; // levels of Include

class AliasList {
public:
    explicit AliasList(QString folder)
        : m_folder(std::move(folder)) {}

    void readFile(const QString& path, int depth) {
        const auto text = rm::readFile(path.toStdString(), 4u << 20);
        if (!text || depth > kDeepest)
            return;
        for (const QString& line : QString::fromStdString(*text).split('\n'))
            readLine(line, depth);
    }
    std::vector<std::string> names;

private:
    void readLine(QString line, int depth) {
        line = line.trimmed();
        const auto end = line.indexOf(QRegularExpression(QStringLiteral("[\\s=]")));
        if (end <= 0 || line.startsWith('#'))
            return;
        const QString key = line.left(end).toLower();
        QString rest = line.mid(end).trimmed();
        if (rest.startsWith('='))
            rest.remove(0, 1);
        const QStringList words = QProcess::splitCommand(rest);
        if (key == "host")
            std::ranges::for_each(words, [this](const QString& word) { add(word); });
        if (key == "include")
            std::ranges::for_each(words, [&](const QString& word) { include(word, depth + 1); });
    }

    void add(const QString& word) {
        const bool isPattern = word.startsWith('!') || word.contains('*') || word.contains('?');
        const std::string name = word.toStdString();
        if (!isPattern && !name.empty() && std::ranges::find(names, name) == names.end())
            names.push_back(name);
    }

    void include(QString pattern, int depth) {
        if (pattern.startsWith("~/"))
            pattern = QDir::homePath() + pattern.mid(1);
        const QByteArray path = QDir(m_folder).filePath(pattern).toLocal8Bit();
        glob_t found = {};
        if (::glob(path.constData(), 0, nullptr, &found) == 0)
            for (size_t i = 0; i < found.gl_pathc; ++i)
                readFile(QString::fromLocal8Bit(found.gl_pathv[i]), depth);
        ::globfree(&found);
    }

    QString m_folder;
};

} // namespace

std::vector<std::string> sshAliasesOf(const std::string& configFile) {
    const QString path = QString::fromStdString(configFile);
    AliasList list(QFileInfo(path).path());
    list.readFile(path, 0);
    return std::move(list.names);
}

std::vector<std::string> sshAliases() {
    return sshAliasesOf((QDir::homePath() + "/.ssh/config").toStdString());
}

} // namespace rm
