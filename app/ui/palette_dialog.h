// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QDialog>

#include <functional>
#include <vector>

class QLineEdit;
class QListWidget;

namespace rm {

/// One thing that the palette goes to or does.
struct PaletteEntry {
    QString title;
    QString kind; ///< "page", "run", "node", "action"
    std::function<void()> act;
};

/// How well `entry` fits what was typed; negative: not at all.
int paletteScore(const QString& title, const QString& typed);

/// Ctrl+K: type a few letters, Enter goes there.
class PaletteDialog : public QDialog {
    Q_OBJECT
public:
    PaletteDialog(std::vector<PaletteEntry> entries, QWidget* parent);

protected:
    bool event(QEvent* event) override;
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    void buildUi();
    void wire();
    void filter(const QString& typed);
    void run();

    std::vector<PaletteEntry> m_entries;
    QLineEdit* m_input;
    QListWidget* m_list;
};

} // namespace rm
