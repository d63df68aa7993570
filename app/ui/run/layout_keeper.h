// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include "app/core/settings/chart_layout.h"

#include <QObject>
#include <QStringList>

#include <functional>
#include <optional>
#include <vector>

namespace rm {

/// The layout of the charts of one kind of model: each change is written at once, and can be undone
/// until another kind is looked at. Of an empty kind nothing is kept.
class LayoutKeeper : public QObject {
    Q_OBJECT
public:
    explicit LayoutKeeper(const Paths& paths, QObject* parent = nullptr);

    /// `kind`: model.type of the run's spec; empty: not known yet, the charts are as they come.
    void setKind(const std::string& kind);
    const ChartLayout& layout() const { return m_layout; }
    /// Changes what is stored now, as another window may have changed it. Where that cannot be read
    /// nothing is written, and the change lasts until another kind is looked at.
    void change(const std::function<void(ChartLayout&)>& change);
    void changeStyle(const std::string& key, const std::function<void(ChartStyle&)>& change);

    bool canUndo() const { return !m_undone.before.empty(); }
    bool canRedo() const { return !m_undone.after.empty(); }
    void undo();
    void redo();

    ChartLayouts kept() const; ///< none where they cannot be read
    QStringList names() const; ///< of the layouts that are kept, for any kind
    bool isInUse(const QString& name) const;
    Result<void> keep(const QString& name) { return keep(name, m_layout); }
    Result<void> keep(const QString& name, const ChartLayout& layout); ///< replaces one of the name
    void use(const QString& name);
    Result<void> forget(const QString& name);

Q_SIGNALS:
    void changed();
    void failed(const QString& why); ///< the file cannot be read or written

private:
    void show(ChartLayout layout);
    void step(std::vector<ChartLayout>& from, std::vector<ChartLayout>& to);
    /// What is stored of the kind; nullopt: it cannot be read, which failed() has said.
    std::optional<ChartLayout> stored();
    void write();
    template <class Change>
    Result<void> update(Change change);

    const Paths& m_paths;
    std::string m_kind;
    ChartLayout m_layout;
    struct {
        std::vector<ChartLayout> before, after;
    } m_undone;
};

} // namespace rm
