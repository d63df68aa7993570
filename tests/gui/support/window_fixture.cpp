// SPDX-License-Identifier: GPL-3.0-or-later
#include "tests/gui/support/window_fixture.h"

#include "app/core/store/store_writer.h"
#include "app/ui/widgets/cell_delegate.h"
#include "app/ui/widgets/table.h"
#include "shared/io/clock.h"
#include "tests/gui/support/demo_store.h"

#include <QDir>
#include <QFile>

namespace rm::test {

namespace {

Result<void> filled(const QString& database, const WindowFixture::Fill& fill) {
    auto writer = StoreWriter::open(database);
    return writer ? fill(**writer) : tl::unexpected<Error>(writer.error());
}

/// The demo's database, which is copied from one that this process wrote a short while ago: most of
/// what a fixture costs is writing it.
Result<void> demo(const QString& database) {
    constexpr int64_t kFreshNs = 20'000'000'000; // its times are told from "now"
    static const QTemporaryDir folder;
    static int64_t writtenNs = 0;
    const QString written = folder.filePath("demo.sqlite");
    if (wallNowNs() - writtenNs > kFreshNs) {
        QFile::remove(written);
        const int64_t now = wallNowNs();
        if (auto made = writeDemoStore(written, now); !made)
            return made;
        writtenNs = now;
    }
    if (!QFile::copy(written, database))
        return fail(ErrorCode::kInternal, "copy the demo to " + database.toStdString());
    return {};
}

} // namespace

WindowFixture::WindowFixture(Content content, Access access)
    : WindowFixture(Write([content](const QString& database) {
                        return content == Content::kDemo
                                   ? demo(database)
                                   : filled(database, [](StoreWriter&) { return Result<void>(); });
                    }),
                    access) {}

WindowFixture::WindowFixture(const Fill& fill)
    : WindowFixture(Write([&fill](const QString& database) { return filled(database, fill); }),
                    Access::kRead) {}

WindowFixture::WindowFixture(const Write& write, Access access)
    : m_paths{m_folder.filePath("config"), m_folder.filePath("data"), m_folder.filePath("state"),
              m_folder.filePath("cache")} {
    for (const QString& folder : {m_paths.config, m_paths.data, m_paths.state, m_paths.cache})
        QDir().mkpath(folder);
    if (const auto written = write(m_paths.database()); !written)
        m_problem = QString::fromStdString(written.error().message);
    m_fleet = std::make_unique<Fleet>(m_paths.config, m_paths.state);
    if (const auto loaded = m_fleet->load(); !loaded)
        m_problem = QString::fromStdString(loaded.error().message);
    openEngine(access);
    m_window = std::make_unique<MainWindow>(*m_engine, *m_fleet, m_paths);
    m_window->show();
    m_window->activateWindow(); // there may be no window manager to do it
}

WindowFixture::~WindowFixture() = default;

void WindowFixture::openRuns() {
    m_window->resize(1440, 900);
    m_window->showRuns();
}

QStringList WindowFixture::listedRuns() const {
    const auto* rows = m_window->findChild<Table*>("runsTable")->model();
    QStringList ids;
    for (int row = 0; row < rows->rowCount(); ++row)
        if (const QString id = rows->index(row, 0).data(kIdRole).toString(); !id.isEmpty())
            ids << id; // a header has none
    return ids;
}

void WindowFixture::openEngine(Access access) {
    std::unique_ptr<StoreWriter> writer;
    if (access == Access::kWrite) {
        auto opened = StoreWriter::open(m_paths.database());
        if (opened)
            writer = std::move(*opened);
        else
            m_problem = QString::fromStdString(opened.error().message);
    }
    m_engine = std::make_unique<LocalEngine>(m_paths, *m_fleet, std::move(writer));
}

} // namespace rm::test
