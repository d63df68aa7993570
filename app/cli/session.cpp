// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/session.h"

#include "app/cli/json_view.h"
#include "app/cli/terminal.h"
#include "app/core/remote/credential_store.h"
#include "shared/io/clock.h"

#include <QDir>
#include <QTimer>

#include <algorithm>
#include <iostream>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kCatchUp = 5s;
constexpr int64_t kLostForGoodNs = 1'000'000'000;
constexpr auto kOthersList = 6s; ///< as long as another `ringmaster runs` may hold the database

/// Every node of the run has said once what it holds, or cannot be reached.
bool hasHeardFromAll(const LiveState& live) {
    return std::all_of(live.nodes.begin(), live.nodes.end(), [](const LiveState::NodeLink& node) {
        return node.state.has_value() || isGone(node);
    });
}

Result<std::unique_ptr<StoreWriter>> openWriter(const QString& database, bool patient) {
    auto writer = StoreWriter::open(database);
    const auto isSettled = [&] { return writer || writer.error().code != ErrorCode::kUnavailable; };
    if (patient && !isSettled())
        awaitUntil(
            [&] {
                writer = StoreWriter::open(database);
                return isSettled();
            },
            kOthersList);
    return writer;
}

} // namespace

Session::Session(bool json)
    : m_json(json)
    , m_paths(Paths::fromEnvironment()) {}

Session::~Session() = default;

Result<void> Session::open(bool mustWrite) {
    m_fleet = std::make_unique<Fleet>(m_paths.config);
    if (const auto loaded = m_fleet->load(); !loaded)
        return loaded;
    if (!QDir().mkpath(m_paths.data))
        return fail(ErrorCode::kDenied,
                    "make " + m_paths.data.toStdString() + ": check XDG_DATA_HOME and HOME");
    auto writer = openWriter(m_paths.database(), mustWrite);
    if (!writer && (mustWrite || writer.error().code != ErrorCode::kUnavailable))
        return tl::unexpected<Error>(writer.error());
    m_writes = writer.has_value();
    m_engine = std::make_unique<Engine>(m_paths, *m_fleet, writer ? std::move(*writer) : nullptr);
    m_engine->setCredentialSource(
        [this](const Node& node) { return m_fleet->credentials().lookUp(node.name); });
    return {};
}

Result<std::unique_ptr<StoreReader>> Session::reader() const {
    return StoreReader::open(m_paths.database());
}

Result<RunSummary> Session::resolve(const std::string& run) const {
    const auto opened = reader();
    if (!opened)
        return tl::unexpected<Error>(opened.error());
    return (*opened)->resolve(QString::fromStdString(run));
}

void Session::catchUp() {
    if (const auto opened = reader())
        catchUpWith((*opened)->runs());
}

Result<RunSummary> Session::caughtUp(const std::string& run) {
    const auto found = resolve(run);
    if (!found)
        return found;
    catchUpWith({*found});
    return resolve(run);
}

void Session::catchUpWith(const std::vector<RunSummary>& runs) {
    if (!m_writes)
        return;
    std::vector<QString> live;
    for (const RunSummary& run : runs)
        if (run.state == RunStateKind::kPreparing || run.state == RunStateKind::kRunning)
            live.push_back(run.id);
    for (const QString& run : live)
        m_engine->attach(run);
    awaitUntil(
        [&] {
            return std::all_of(live.begin(), live.end(), [this](const QString& run) {
                return hasHeardFromAll(m_engine->live(run));
            });
        },
        kCatchUp);
}

void Session::grant(const std::string& node, const Credentials& credentials) {
    m_fleet->credentials().grant(node, credentials);
}

bool awaitUntil(const std::function<bool()>& done,
                std::optional<std::chrono::milliseconds> deadline) {
    if (done())
        return true;
    QEventLoop loop;
    QTimer poll;
    bool reached = false;
    QObject::connect(&poll, &QTimer::timeout, &loop, [&] {
        reached = done();
        if (reached)
            loop.quit();
    });
    poll.start(50ms);
    if (deadline)
        QTimer::singleShot(*deadline, &loop, &QEventLoop::quit);
    loop.exec();
    return reached;
}

bool isGone(const LiveState::NodeLink& node) {
    if (node.link == LiveState::Link::kRefused)
        return true;
    // A link that was lost just now may be back, or be the end of the run, in a moment.
    return node.link == LiveState::Link::kLost && wallNowNs() - node.lostSinceNs > kLostForGoodNs;
}

int printError(bool json, const Error& error) {
    if (json)
        printJson(toJson(error));
    std::cerr << "ringmaster: " << oneLine(error.message) << std::endl;
    return static_cast<int>(exitCodeFor(error.code));
}

int printError(const Session& session, const Error& error) {
    return printError(session.json(), error);
}

} // namespace rm::cli
