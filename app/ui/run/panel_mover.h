// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

#include <QObject>
#include <QPoint>
#include <QPointer>
#include <QTimer>

#include <utility>
#include <vector>

class QFrame;
class QScrollArea;

namespace rm {

class ReflowGrid;

/// Lets a person drag the cards of grids by their heads to another place, and size them by their
/// lower right corners, within a page that scrolls.
class PanelMover : public QObject {
    Q_OBJECT
public:
    PanelMover(QScrollArea& page, std::vector<ReflowGrid*> grids, QObject* parent);

    /// Once for each card; one that is deleted is forgotten.
    void watch(QWidget& card);

Q_SIGNALS:
    /// `before`: the card that it is to stand before; nullptr: behind all of `grid`.
    void moved(QWidget* card, ReflowGrid* grid, QWidget* before);
    /// In columns of its grid, and in rows that are as high as the least height of a chart; 0: as
    /// it was.
    void sized(QWidget* card, int columns, int rows);

protected:
    bool eventFilter(QObject* watched, QEvent* event) override;

private:
    enum class Doing { kNothing, kPressed, kMoving, kSizing };
    struct Target {
        ReflowGrid* grid = nullptr;
        QWidget* before = nullptr;
        QRect mark; ///< in the page
    };
    bool press(QWidget& card, const QPoint& at);
    bool drag(const QPoint& global);
    bool drop(const QPoint& global);
    void scrollAt(const QPoint& global);
    void cancel();
    void pointAt(QWidget& card, const QPoint& at) const;
    Target targetAt(const QPoint& global) const;
    std::pair<int, int> sizeAt(const QPoint& global) const;
    ReflowGrid* gridOf(const QWidget& card) const;

    QScrollArea& m_page;
    std::vector<ReflowGrid*> m_grids;
    Doing m_doing = Doing::kNothing;
    QPointer<QWidget> m_card;
    QPoint m_pressed;                 ///< on the screen
    std::pair<int, int> m_sizeBefore; ///< columns and rows
    QFrame* m_band;                   ///< where the card would come, or how large it would be
    QTimer m_scrolling;
};

} // namespace rm
