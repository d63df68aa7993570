// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/manual/manual.h"

#include "app/core/settings/paths.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"

#include <QRegularExpression>
#include <QStringList>

#include <algorithm>

namespace rm {

namespace {

Result<ManualTopic> readTopic(const QString& name) {
    const QString path = resourceDir() + "/manual/" + name + ".md";
    RM_ASSIGN_OR_RETURN(const auto bytes, readFile(path.toStdString()));
    ManualTopic topic{name, {}, {}, QString::fromStdString(bytes)};
    const QStringList lines = topic.text.split('\n');
    const auto title =
        std::ranges::find_if(lines, [](const QString& line) { return line.startsWith("# "); });
    if (title == lines.end())
        return fail(ErrorCode::kCorrupt, "read the manual: " + path.toStdString() +
                                             " has no title; a line must begin with \"# \"");
    topic.title = title->mid(2).trimmed();
    auto sentence = std::find_if(title + 1, lines.end(),
                                 [](const QString& line) { return !line.trimmed().isEmpty(); });
    for (; sentence != lines.end() && !sentence->trimmed().isEmpty(); ++sentence)
        topic.purpose += (topic.purpose.isEmpty() ? "" : " ") + sentence->trimmed();
    return topic;
}

bool hasAll(const QString& text, const QStringList& words) {
    return std::ranges::all_of(
        words, [&text](const QString& word) { return text.contains(word, Qt::CaseInsensitive); });
}

/// Whether a line begins another paragraph: an item, a row of a table, a heading.
bool beginsAnother(const QString& line) {
    static const QRegularExpression begin("^(- |\\d+\\. |\\||#)");
    return begin.match(line).hasMatch();
}

/// What a person reads of Markdown's text.
QString plain(QString markdown) {
    static const QRegularExpression link("\\[([^\\]]*)\\]\\([^)]*\\)");
    static const QRegularExpression emphasis("\\*\\*|\\*(?=\\S)|(?<=\\S)\\*|`");
    static const QRegularExpression begin("^(- |#+ |\\| )");
    return markdown.replace(link, "\\1")
        .remove(emphasis)
        .remove(begin)
        .replace(" | ", ", ")
        .remove(" |");
}

/// The paragraphs of a topic, each under its heading; a line of code is one, too.
std::vector<ManualHit> paragraphsOf(const ManualTopic& topic) {
    std::vector<ManualHit> all;
    QString heading = topic.title;
    bool isCode = false, isOpen = false;
    for (const QString& line : topic.text.split('\n')) {
        if (line.startsWith("```")) {
            isCode = !isCode;
            isOpen = false;
        } else if (isCode || line.trimmed().isEmpty()) {
            isOpen = false;
            if (isCode)
                all.push_back({topic.name, heading, line.simplified()});
        } else if (isOpen && !beginsAnother(line)) {
            all.back().text += ' ' + line.trimmed();
        } else if (!line.startsWith("|--")) { // below a table's head
            if (line.startsWith('#'))
                heading = line.section(' ', 1);
            all.push_back({topic.name, heading, line.trimmed()});
            isOpen = !line.startsWith('#');
        }
    }
    return all;
}

} // namespace

Result<Manual> Manual::read() {
    Manual manual;
    RM_ASSIGN_OR_RETURN(auto index, readTopic(kManualIndex));
    static const QRegularExpression link("\\]\\(([a-z-]+)\\.md\\)");
    QStringList names;
    for (auto found = link.globalMatch(index.text); found.hasNext();)
        if (const QString name = found.next().captured(1); !names.contains(name))
            names << name;
    manual.m_topics.push_back(std::move(index));
    for (const QString& name : names) {
        RM_ASSIGN_OR_RETURN(auto topic, readTopic(name));
        manual.m_topics.push_back(std::move(topic));
    }
    return manual;
}

Result<ManualTopic> Manual::topic(const QString& name) const {
    QStringList names;
    for (const ManualTopic& topic : m_topics) {
        if (topic.name == name)
            return topic;
        names << topic.name;
    }
    return fail(ErrorCode::kNotFound, "help " + name.toStdString() +
                                          ": the manual has no such topic; it has " +
                                          names.join(", ").toStdString());
}

std::vector<ManualHit> Manual::find(const QString& words) const {
    std::vector<ManualHit> hits;
    const QStringList wanted = words.simplified().split(' ', Qt::SkipEmptyParts);
    if (wanted.isEmpty())
        return hits;
    for (const ManualTopic& topic : m_topics)
        for (const ManualHit& paragraph : paragraphsOf(topic))
            if (const QString text = plain(paragraph.text); hasAll(text, wanted))
                hits.push_back({paragraph.topic, paragraph.heading, text});
    return hits;
}

QString anchorOf(const QString& heading) {
    QString anchor;
    for (const QChar letter : heading.toLower())
        if (letter.isLetterOrNumber() || letter == '-' || letter == '_')
            anchor += letter;
        else if (letter == ' ')
            anchor += '-';
    return anchor;
}

} // namespace rm
