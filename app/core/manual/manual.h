// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "shared/result.h"

#include <QString>

#include <vector>

namespace rm {

/// A topic of the manual: `resources/manual/NAME.md`, which begins with its title and a sentence
/// that says for what one opens it.
struct ManualTopic {
    QString name;
    QString title;
    QString purpose;
    QString text; ///< Markdown, with title and purpose
};

/// A paragraph of the manual in which what was searched for stands.
struct ManualHit {
    QString topic;   ///< its name
    QString heading; ///< of the paragraph; the title for what stands before the first
    QString text;    ///< without Markdown's marks
};

/// The manual that ships with Ringmaster. Immutable after it was read.
class Manual {
public:
    /// kNotFound: a file of it is missing.
    static Result<Manual> read();

    /// In the order of the index, which comes first.
    const std::vector<ManualTopic>& topics() const { return m_topics; }

    /// kNotFound names the topics that there are.
    Result<ManualTopic> topic(const QString& name) const;

    /// The paragraphs that have all of these words, in any case, in the order of the topics.
    std::vector<ManualHit> find(const QString& words) const;

private:
    std::vector<ManualTopic> m_topics;
};

inline const QString kManualIndex = QStringLiteral("index");

/// By what a link names a heading, as GitHub does: "What is sent" is `what-is-sent`.
QString anchorOf(const QString& heading);

} // namespace rm
