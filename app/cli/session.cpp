// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/session.h"

#include "app/core/remote/credential_store.h"

#include <QDir>
#include <QTimer>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <iostream>

namespace rm::cli {

namespace {

using namespace std::chrono_literals;

constexpr auto kCatchUp = 5s;

/// Every node of the run has said once what it holds, or cannot be reached.
bool hasHeardFromAll(const LiveState& live) {
    return std::all_of(live.nodes.begin(), live.nodes.end(), [](const LiveState::NodeLink& node) {
        return node.state.has_value() || node.link == LiveState::Link::kLost;
    });
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
    auto writer = StoreWriter::open(m_paths.database());
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
    if (!m_writes)
        return;
    m_engine->attachAll();
    const auto opened = reader();
    if (!opened)
        return;
    std::vector<QString> live;
    for (const RunSummary& run : (*opened)->runs())
        if (run.state == RunStateKind::kPreparing || run.state == RunStateKind::kRunning)
            live.push_back(run.id);
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

bool awaitUntil(const std::function<bool()>& done, std::chrono::milliseconds deadline) {
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
    QTimer::singleShot(deadline, &loop, &QEventLoop::quit);
    loop.exec();
    return reached;
}

int printError(const Session& session, const Error& error) {
    if (session.json())
        std::cout << nlohmann::json{{"error",
                                     {{"code", errorCodeName(error.code)},
                                      {"message", error.message}}}}
                  << std::endl;
    std::cerr << "ringmaster: " << error.message << std::endl;
    return static_cast<int>(exitCodeFor(error.code));
}

} // namespace rm::cli
