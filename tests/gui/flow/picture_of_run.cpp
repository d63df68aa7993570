// SPDX-License-Identifier: GPL-3.0-or-later
// picture_of_run FILE: the picture of the README. The window trains gpt-tiny by its one click,
// and is drawn once most steps are done. tests/support/with_xvfb gives it a screen.
#include "app/ui/look/theme.h"
#include "tests/gui/flow/flow.h"

#include <QApplication>
#include <QTest>

#include <iostream>

using namespace rm;
using namespace rm::test;

namespace {

constexpr QSize kSize(1440, 900);
constexpr int kLimitMs = 900'000;
constexpr qint64 kMostSteps = 850; // of 1000

Result<void> draw(const QString& file) {
    auto flow = Flow::prepare();
    if (!flow)
        return tl::unexpected(flow.error());
    MainWindow& window = (*flow)->window();
    Theme::instance().setMode(Theme::Mode::kLight);
    window.resize(kSize);
    if (auto clicked = (*flow)->hand().click("welcomeTrain"); !clicked)
        return clicked;
    if (!QTest::qWaitFor([&] { return (*flow)->newestStep() >= kMostSteps; }, kLimitMs))
        return fail(ErrorCode::kUnavailable, "train gpt-tiny: " + (*flow)->seen().toStdString());
    if (!window.grab().save(file))
        return fail(ErrorCode::kDenied, "write " + file.toStdString());
    return (*flow)->hand().click("stopRun");
}

} // namespace

int main(int argc, char** argv) {
    QApplication app(argc, argv);
    if (argc != 2) {
        std::cerr << "usage: picture_of_run FILE.png\n";
        return 2;
    }
    const auto drawn = draw(argv[1]);
    if (!drawn)
        std::cerr << drawn.error().message << '\n';
    return drawn ? 0 : 1;
}
