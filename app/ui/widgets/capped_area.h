// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QScrollArea>

#include <functional>

namespace rm {

/// Scrolls what it holds, never sideways, and is exactly as high as a function says, mostly as all
/// of it up to a limit. Unlike a FittingArea it never shrinks before it scrolls.
class CappedArea : public QScrollArea {
    Q_OBJECT
public:
    /// The height for this width of the content; 0: it stays as high as it is.
    using HeightOf = std::function<int(int width)>;

    /// `content`: null: setWidget() brings it later. `heightOf` is called while there is a content,
    /// from here on, whenever its layout or its size changes.
    CappedArea(QWidget* content, const char* objectName, HeightOf heightOf);

    /// To be called when something else changes that the height depends on.
    void fit();
    /// All of a widget that has a layout, at this width.
    static int wholeHeight(const QWidget& content, int width);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override; ///< of the content
    void resizeEvent(QResizeEvent* event) override;

private:
    HeightOf m_heightOf;
};

} // namespace rm
