// SPDX-License-Identifier: GPL-3.0-or-later
// Our side of the rows of a fleet, and their lab:
//
//     fleet NODES shared|own
//
// makes a laptop and so many nodes (Testbed), whose homes are one or their own, says in a line of
// JSON how they are reached, and then answers each line of its input by one of JSON:
//
//     forget          closes all sessions: {}
//     open            opens a session to each node at once, which includes its agent's proof of
//                     itself (bootstrap.h): {"seconds", "answers": [PATH of the agent...]}
//     ask             runs `ringmaster-agent --version` on all nodes at once, as the app runs
//                     programs there: {"seconds", "answers": [TEXT...]}
//     tree BYTES      makes a bundle of new bytes: {"file": PATH, "sha256": HEX}
//     deploy          sends it to all nodes, as a launch does: {"seconds", "nodes" that have it}
//     uplink RATE     NetworkLab::addUplink(): {}
//     launch          starts a rank on each node, and waits until all train: {"seconds"}
//     hold, continue  {"seconds" until all ranks are known to have obeyed, "told" until each node
//                     has said so itself, "nodes"}
//     pause           likewise: until its checkpoint is whole, and until each node has said that
//                     nothing of the run lives there
//     resume          likewise: until each node's agent has begun its rank, and until all ranks
//                     train on from there
//     kill            ends them: {}
//
// or by {"error": TEXT}. It ends with its input.
#include "app/core/fleet/fleet.h"

#include "app/core/await.h"
#include "app/core/deploy/transfer_chain.h"
#include "app/core/engine/holder/shared_engine.h"
#include "app/core/launch/host_worker.h"
#include "app/core/launch/plan.h"
#include "shared/board/board.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "tests/integration/testbed.h"

#include <QCoreApplication>
#include <QDir>
#include <QJsonArray>
#include <QJsonObject>
#include <QTest>

#include <iostream>
#include <random>
#include <thread>

using namespace rm;

namespace {

using Clock = std::chrono::steady_clock;
using Reply = Result<QJsonObject>;

constexpr int kPatienceMs = 600'000; // two processors begin 64 ranks one after the other
constexpr int64_t kForGood = 100'000'000;

double secondsSince(Clock::time_point begin) {
    return std::chrono::duration<double>(Clock::now() - begin).count();
}

Result<void> writeNoise(const std::string& path, size_t size) {
    std::mt19937_64 random(std::random_device{}());
    std::string bytes(size, '\0');
    for (char& byte : bytes)
        byte = static_cast<char>(random());
    return writeFileAtomically(path, bytes);
}

QJsonArray arrayOf(const std::vector<std::string>& texts) {
    QJsonArray array;
    for (const std::string& text : texts)
        array << QString::fromStdString(text);
    return array;
}

/// A run of a rank on each node, which this process follows as a window does.
class FleetRun {
public:
    FleetRun()
        : m_paths(Paths::fromEnvironment())
        , m_fleet(m_paths.config, m_paths.state)
        , m_shared(m_paths, m_fleet, face::Kind::kTerminal) {
        QObject::connect(&m_engine, &Engine::attemptEnded, &m_engine,
                         [this] { m_hasEnded = true; });
    }

    Reply launch(const Testbed& bed) {
        const auto begin = Clock::now();
        RM_RETURN_IF_ERROR(m_paths.prepare());
        RM_RETURN_IF_ERROR(m_fleet.load());
        std::vector<Placement> placements;
        for (int i = 0; i < bed.nodes(); ++i) {
            RM_RETURN_IF_ERROR(m_fleet.add(bed.node(i)));
            placements.push_back({Testbed::nodeName(i), 1});
        }
        RM_RETURN_IF_ERROR(await(m_shared.open()));
        const QString spec = bed.writeSpec(
            "fleet", {.steps = kForGood, .checkpointEvery = kForGood, .validationEvery = kForGood});
        RM_ASSIGN_OR_RETURN(const auto text, readFile(spec.toStdString()));
        RM_ASSIGN_OR_RETURN(auto parsed, parseRunSpec(text, "fleet"));
        RM_ASSIGN_OR_RETURN(const auto checked, check(std::move(parsed)));
        RM_ASSIGN_OR_RETURN(m_run, await(m_engine.ask(LaunchRequest{*checked, placements})));
        m_engine.attach(m_run);
        m_nodes = bed.nodes();
        RM_RETURN_IF_ERROR(waitUntilAll(isTraining, "train"));
        return QJsonObject{{"seconds", secondsSince(begin)}};
    }

    Reply order(CommandKind kind) {
        const auto begin = Clock::now();
        RM_ASSIGN_OR_RETURN(const auto answer, await(m_engine.ask(CommandRequest{m_run, kind})));
        const double seconds = secondsSince(begin);
        if (answer.progress != CommandProgress::kApplied || !answer.message.empty())
            return fail(ErrorCode::kInternal, answer.message);
        m_step = answer.step;
        if (kind == CommandKind::kPause) {
            if (!QTest::qWaitFor([this] { return m_hasEnded; }, kPatienceMs))
                return fail(ErrorCode::kUnavailable, "pause: the run does not end");
        } else {
            const auto isObeyed = [kind](const RankState& rank) {
                return isHeld(rank) == (kind == CommandKind::kHold);
            };
            RM_RETURN_IF_ERROR(waitUntilAll(isObeyed, "say that they obey"));
        }
        return QJsonObject{{"seconds", seconds}, {"told", secondsSince(begin)}, {"nodes", m_nodes}};
    }

    Reply resume() {
        m_hasEnded = false;
        const auto begin = Clock::now();
        RM_RETURN_IF_ERROR(await(m_engine.ask(ResumeRequest{m_run})));
        const double seconds = secondsSince(begin);
        m_engine.attach(m_run);
        const auto continues = [this](const RankState& rank) {
            return isTraining(rank) && rank.step > m_step;
        };
        RM_RETURN_IF_ERROR(waitUntilAll(continues, "train on"));
        return QJsonObject{{"seconds", seconds}, {"told", secondsSince(begin)}, {"nodes", m_nodes}};
    }

    Reply kill() {
        RM_RETURN_IF_ERROR(await(m_engine.ask(CommandRequest{m_run, CommandKind::kKill})));
        return QJsonObject();
    }

private:
    static bool isHeld(const RankState& rank) {
        return static_cast<Phase>(rank.phase) == Phase::kHeld;
    }
    static bool isTraining(const RankState& rank) { return rank.pid != 0 && rank.step > 1; }

    /// kUnavailable: they do not, or the run ended.
    Result<void> waitUntilAll(const std::function<bool(const RankState&)>& holds,
                              const char* what) const {
        const auto isDone = [&] { return m_hasEnded || nodesWhere(holds) == m_nodes; };
        if (!QTest::qWaitFor(isDone, kPatienceMs) || m_hasEnded)
            return fail(ErrorCode::kUnavailable, std::string("not all nodes ") + what);
        return {};
    }
    int nodesWhere(const std::function<bool(const RankState&)>& holds) const {
        const LiveState live = m_engine.live(m_run);
        return static_cast<int>(std::ranges::count_if(live.nodes, [&](const auto& node) {
            return node.state && !node.state->ranks.empty() &&
                   std::ranges::all_of(node.state->ranks, holds);
        }));
    }

    Paths m_paths;
    Fleet m_fleet;
    SharedEngine m_shared;
    Engine& m_engine = m_shared;
    QString m_run;
    int m_nodes = 0;
    int64_t m_step = 0; ///< after which the last order was obeyed
    bool m_hasEnded = false;
};

class FleetLab {
public:
    explicit FleetLab(Testbed& bed)
        : m_bed(bed)
        , m_hosts(newHosts()) {}

    QJsonObject places() const {
        QJsonArray nodes;
        for (int i = 0; i < m_bed.nodes(); ++i)
            nodes << QJsonObject{{"address", NetworkLab::managementAddress(i)},
                                 {"port", m_bed.server(i).port()},
                                 {"home", m_bed.server(i).home()}};
        return {{"space", m_bed.lab().laptop()},
                {"key", QString::fromStdString(m_bed.node(0).identityFile)},
                {"knownHosts", m_bed.laptop().knownHosts()},
                {"nodes", nodes}};
    }

    Reply obey(const QStringList& words) {
        const QString verb = words.value(0);
        if (verb == "forget") {
            m_hosts = newHosts();
            return QJsonObject();
        }
        if (verb == "uplink")
            return m_bed.lab().addUplink(words.value(1)).map([] { return QJsonObject(); });
        if (verb == "tree")
            return makeTree(words.value(1).toULongLong());
        if (verb == "open" || verb == "ask")
            return verb == "open" ? open() : ask();
        if (verb == "deploy")
            return deploy();
        if (verb == "launch")
            return (m_run = std::make_unique<FleetRun>())->launch(m_bed);
        if (verb == "kill")
            return m_run->kill();
        if (verb == "resume")
            return m_run->resume();
        for (const auto kind : {CommandKind::kHold, CommandKind::kContinue, CommandKind::kPause})
            if (verb == commandKindName(kind))
                return m_run->order(kind);
        return fail(ErrorCode::kInvalid, "there is no such order: " + verb.toStdString());
    }

private:
    static std::unique_ptr<HostPool> newHosts() {
        return std::make_unique<HostPool>([](const Node&) { return Credentials{}; });
    }

    /// The answers of all nodes to what is done on them at the same time.
    Result<std::vector<std::string>>
    onAll(const std::function<HostWorker::Task<std::string>(int node)>& taskOf) {
        std::vector<std::future<Result<std::string>>> answers;
        for (int i = 0; i < m_bed.nodes(); ++i)
            answers.push_back(m_hosts->worker(m_bed.node(i))->post<std::string>(taskOf(i)));
        std::vector<std::string> all;
        Result<void> done;
        for (auto& answer : answers) {
            auto result = answer.get();
            if (!result)
                done = tl::unexpected(result.error());
            else
                all.push_back(std::move(*result));
        }
        return done.map([&] { return std::move(all); });
    }

    Reply open() {
        return timed([](HostSession&, const std::string& agent, const std::stop_token&) {
            return Result<std::string>(agent);
        });
    }

    Reply ask() {
        return timed([](HostSession& session, const std::string& agent, std::stop_token stop) {
            return runToEnd(session, agent, {"--version"}, {}, std::chrono::seconds(60), stop);
        });
    }

    Reply timed(const HostWorker::Task<std::string>& task) {
        const auto begin = Clock::now();
        RM_ASSIGN_OR_RETURN(const auto answers, onAll([&task](int) { return task; }));
        return QJsonObject{{"seconds", secondsSince(begin)}, {"answers", arrayOf(answers)}};
    }

    Reply makeTree(size_t size) {
        const std::string path = m_bed.path(QString("noise-%1").arg(++m_trees)).toStdString();
        RM_RETURN_IF_ERROR(writeNoise(path, size));
        RM_ASSIGN_OR_RETURN(m_sha256, sha256HexOfFile(path));
        m_tree = LocalTree{"bundles", {{kName, path}}};
        return QJsonObject{{"file", QString::fromStdString(path)},
                           {"sha256", QString::fromStdString(m_sha256)}};
    }

    std::vector<TransferChain::Party> parties() const {
        std::vector<TransferChain::Party> all;
        for (int i = 0; i < m_bed.nodes(); ++i)
            all.push_back({Testbed::nodeName(i).toStdString(),
                           {NetworkLab::managementAddress(i).toStdString(),
                            NetworkLab::dataAddress(i).toStdString()}});
        return all;
    }

    Reply deploy() {
        const auto begin = Clock::now();
        const auto chain = std::make_shared<TransferChain>(parties());
        RM_ASSIGN_OR_RETURN(
            const auto folders, onAll([&](int node) {
                const auto place = std::make_shared<ChainPlace>(chain, static_cast<size_t>(node));
                return [this, place](HostSession& session, const std::string& agent,
                                     std::stop_token stop) {
                    return deployTree(session, agent, m_tree, {}, stop, place.get());
                };
            }));
        const double seconds = secondsSince(begin);
        const auto whole = std::ranges::count_if(folders, [this](const std::string& folder) {
            const auto found = sha256HexOfFile(folder + "/" + kName);
            return found && *found == m_sha256;
        });
        return QJsonObject{{"seconds", seconds}, {"nodes", static_cast<int>(whole)}};
    }

    static constexpr const char* kName = "lib/noise.so";

    Testbed& m_bed;
    std::unique_ptr<HostPool> m_hosts;
    LocalTree m_tree;
    std::string m_sha256;
    int m_trees = 0;
    std::unique_ptr<FleetRun> m_run;
};

void say(const Reply& reply) {
    const QJsonObject line = reply.value_or(
        QJsonObject{{"error", QString::fromStdString(reply ? "" : reply.error().message)}});
    std::cout << QJsonDocument(line).toJson(QJsonDocument::Compact).toStdString() << std::endl;
}

} // namespace

int main(int argc, char** argv) {
    QCoreApplication app(argc, argv);
    if (argc != 3) {
        std::cerr << "usage: fleet NODES shared|own\n";
        return static_cast<int>(ExitCode::kUsage);
    }
    auto bed = Testbed::create(
        "bench",
        {.nodes = std::atoi(argv[1]), .stepMs = 0, .sharesHome = std::string(argv[2]) == "shared"});
    if (bed)
        if (auto acting = (*bed)->actAsLaptop(); !acting)
            bed = tl::unexpected(acting.error());
    if (!bed) {
        say(tl::unexpected(bed.error()));
        return static_cast<int>(exitCodeFor(bed.error().code));
    }
    FleetLab lab(**bed);
    say(lab.places());
    std::jthread reader([&] {
        for (std::string line; std::getline(std::cin, line);)
            QMetaObject::invokeMethod(&app, [&lab, words = QString::fromStdString(line)] {
                say(lab.obey(words.split(' ')));
            });
        QMetaObject::invokeMethod(&app, [] { QCoreApplication::quit(); });
    });
    return QCoreApplication::exec();
}
