// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/ui/run/layout_keeper.h"

#include "app/core/settings/paths.h"

#include <utility>

namespace rm {

LayoutKeeper::LayoutKeeper(const Paths& paths, QObject* parent)
    : QObject(parent)
    , m_paths(paths) {}

void LayoutKeeper::setKind(const std::string& kind) {
    if (kind == m_kind)
        return;
    m_kind = kind;
    m_undone = {};
    show(stored().value_or(ChartLayout()));
}

std::optional<ChartLayout> LayoutKeeper::stored() {
    if (m_kind.empty())
        return m_layout;
    const auto layouts = readChartLayouts(m_paths);
    if (!layouts) {
        Q_EMIT failed(QString::fromStdString(layouts.error().message));
        return std::nullopt;
    }
    const auto known = layouts->inUse.find(m_kind);
    return known == layouts->inUse.end() ? ChartLayout() : known->second;
}

void LayoutKeeper::show(ChartLayout layout) {
    if (std::exchange(m_layout, std::move(layout)) != m_layout)
        Q_EMIT changed();
}

void LayoutKeeper::change(const std::function<void(ChartLayout&)>& change) {
    const auto read = stored();
    const ChartLayout before = read.value_or(m_layout);
    ChartLayout layout = before;
    change(layout);
    if (layout != before) {
        m_undone.before.push_back(before);
        m_undone.after.clear();
    }
    show(std::move(layout));
    if (read)
        write();
}

void LayoutKeeper::changeStyle(const std::string& key,
                               const std::function<void(ChartStyle&)>& change) {
    this->change([&](ChartLayout& layout) {
        ChartStyle style = layout.styleOf(key);
        change(style);
        layout.setStyle(key, style);
    });
}

void LayoutKeeper::undo() {
    step(m_undone.before, m_undone.after);
}

void LayoutKeeper::redo() {
    step(m_undone.after, m_undone.before);
}

/// To the newest of `from`; the present one becomes the newest of `to`.
void LayoutKeeper::step(std::vector<ChartLayout>& from, std::vector<ChartLayout>& to) {
    if (from.empty())
        return;
    to.push_back(m_layout);
    ChartLayout wanted = std::move(from.back());
    from.pop_back();
    show(std::move(wanted));
    write();
}

/// Reads what is kept by now, as another window may have changed it.
template <class Change>
Result<void> LayoutKeeper::update(Change change) {
    auto layouts = readChartLayouts(m_paths);
    if (!layouts)
        return tl::unexpected(layouts.error());
    change(*layouts);
    return writeChartLayouts(m_paths, *layouts);
}

void LayoutKeeper::write() {
    if (m_kind.empty())
        return;
    const auto written = update([this](ChartLayouts& layouts) {
        if (m_layout == ChartLayout())
            layouts.inUse.erase(m_kind);
        else
            layouts.inUse[m_kind] = m_layout;
    });
    if (!written)
        Q_EMIT failed(QString::fromStdString(written.error().message));
}

ChartLayouts LayoutKeeper::kept() const {
    return readChartLayouts(m_paths).value_or(ChartLayouts());
}

QStringList LayoutKeeper::names() const {
    QStringList names;
    for (const auto& [name, layout] : kept().kept)
        names << QString::fromStdString(name);
    names.sort(Qt::CaseInsensitive);
    return names;
}

bool LayoutKeeper::isInUse(const QString& name) const {
    const ChartLayouts layouts = this->kept();
    const auto kept = layouts.kept.find(name.toStdString());
    return kept != layouts.kept.end() && kept->second == m_layout;
}

Result<void> LayoutKeeper::keep(const QString& name, const ChartLayout& layout) {
    if (name.trimmed().isEmpty())
        return fail(ErrorCode::kInvalid, "keep the layout: that is no name; give it some words");
    return update(
        [&](ChartLayouts& layouts) { layouts.kept[name.trimmed().toStdString()] = layout; });
}

void LayoutKeeper::use(const QString& name) {
    const ChartLayouts layouts = this->kept();
    if (const auto kept = layouts.kept.find(name.toStdString()); kept != layouts.kept.end())
        change([&](ChartLayout& layout) { layout = kept->second; });
}

Result<void> LayoutKeeper::forget(const QString& name) {
    return update([&](ChartLayouts& layouts) { layouts.kept.erase(name.toStdString()); });
}

} // namespace rm
