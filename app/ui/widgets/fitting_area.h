// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

namespace rm {

/// As wide as its place and as high as what it holds, up to a limit; where there is less room, what
/// can shrink does so first, and then it scrolls, never sideways.
class FittingArea : public QScrollArea {
    Q_OBJECT
public:
    explicit FittingArea(QWidget* content, int mostHeight = QWIDGETSIZE_MAX);

    /// All that it holds, at this width.
    int heightFor(int width) const;
    QSize sizeHint() const override;
    QSize minimumSizeHint() const override;

protected:
    bool event(QEvent* event) override;
    void resizeEvent(QResizeEvent* event) override;

private:
    void fit();

    int m_mostHeight;
};

} // namespace rm
