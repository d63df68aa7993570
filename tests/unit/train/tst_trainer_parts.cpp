// SPDX-License-Identifier: Apache-2.0
#include "shared/io/descriptor.h"
#include "tests/support/requirement.h"
#include "trainer/train/checkpoint/train_state.h"
#include "trainer/train/control/order.h"
#include "trainer/train/data/text/tokenizer.h"
#include "trainer/train/device/peak_rate.h"
#include "trainer/train/dist/gradient_buckets.h"
#include "trainer/train/dist/listener.h"
#include "trainer/train/dist/parameter_shards.h"
#include "trainer/train/dist/slurm_environment.h"
#include "trainer/train/formats/plain_pickle.h"
#include "trainer/train/session/failure.h"

#include <QObject>
#include <QTest>

#include <ATen/ops/empty.h>
#include <c10/util/Exception.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/socket.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <future>
#include <stdexcept>
#include <thread>

using namespace rm;

namespace {

constexpr uint16_t kOwnPort = 29500; ///< in a network that nobody else is in

std::map<std::string, std::string> environment;

const char* lookUp(const char* name) {
    const auto found = environment.find(name);
    return found == environment.end() ? nullptr : found->second.c_str();
}

TrainState someState() {
    TrainState state;
    state.step = 12;
    state.epoch = 1.5;
    state.cursor = 384;
    state.worldSize = 2;
    state.specHash = "abc";
    state.settings = {{"optimizer.lr", 0.1 + 0.2}, {"train.log_every", 7}};
    state.validationLoss = 1.25;
    state.positionsPerStep = 32;
    state.watched.best = 0.75;
    state.watched.sinceBest = 3;
    state.watched.bestSavedStep = 8;
    state.lossScale = 1024;
    state.finiteSteps = 11;
    state.skippedSteps = 2;
    state.rngStates = {{0, 1, 255}, {7}};
    return state;
}

} // namespace

class TestTrainerParts : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void fullMemoryThrowsBesideSentencePiece() {
        QVERIFY(!makeSentencePieceTokenizer("no model")); // it is linked in
        QVERIFY_EXCEPTION_THROWN(at::empty({int64_t{1} << 50}), c10::Error);
    }

    void aPeakIsOfThatGpuInThatPrecision_data() {
        QTest::addColumn<QString>("gpu");
        QTest::addColumn<QString>("precision");
        QTest::addColumn<double>("tflops"); // 0: not known
        const auto row = [](const char* gpu, const char* precision, double tflops) {
            QTest::addRow("%s, %s", gpu, precision) << gpu << precision << tflops;
        };
        row("NVIDIA H200", "bfloat16", 989);
        row("NVIDIA GH200 480GB", "bfloat16", 989);
        row("NVIDIA H100 80GB HBM3", "float16", 989);
        row("NVIDIA H100 PCIe", "bfloat16", 756);
        row("NVIDIA A100-SXM4-80GB", "bfloat16", 312);
        row("NVIDIA A100-SXM4-80GB", "float32", 0);
        row("NVIDIA A100-SXM4-80GB MIG 3g.40gb", "bfloat16", 0);
        row("NVIDIA RTX A1000", "bfloat16", 0);
        row("NVIDIA L40S", "bfloat16", 362);
        row("NVIDIA GeForce RTX 4090", "bfloat16", 165.2);
        row("NVIDIA GeForce RTX 4090 D", "bfloat16", 0);
        row("NVIDIA GeForce RTX 4090 Laptop GPU", "bfloat16", 0);
        row("Tesla V100-SXM2-16GB", "float16", 125);
        row("Tesla V100-SXM2-16GB", "bfloat16", 0);
        row("Tesla V100-FHHL-16GB", "float16", 0);
        row("NVIDIA A40-48Q", "bfloat16", 0);
        row("NVIDIA A100-PCIE-40GB", "bfloat16", 312);
        row("Something Else", "bfloat16", 0);
    }
    void aPeakIsOfThatGpuInThatPrecision() {
        QFETCH(const QString, gpu);
        QFETCH(const QString, precision);
        QFETCH(const double, tflops);
        QCOMPARE(peakTflops(gpu.toStdString(), precision.toStdString()).value_or(0), tflops);
    }

    void noEnvironmentIsAWorldOfOne() {
        environment.clear();
        const auto read = torchrunEnvironmentFrom(lookUp);
        QVERIFY(read);
        QCOMPARE(*read, TorchrunEnvironment{});
    }

    void torchrunsVariablesAreRead() {
        environment = {{"RANK", "3"},
                       {"WORLD_SIZE", "4"},
                       {"LOCAL_RANK", "1"},
                       {"LOCAL_WORLD_SIZE", "2"},
                       {"MASTER_ADDR", "10.0.0.1"},
                       {"MASTER_PORT", "29500"},
                       {"TORCHELASTIC_RESTART_COUNT", "2"},
                       {"TORCHELASTIC_RUN_ID", "r"},
                       {"RINGMASTER_STORE_NONCE", "c0ffee"}};
        const auto read = torchrunEnvironmentFrom(lookUp);
        QVERIFY(read);
        QCOMPARE(*read,
                 (TorchrunEnvironment{3, 1, 4, 2, "10.0.0.1", 29500, 3, "r", false, "c0ffee"}));
    }

    void variablesOfSrunStandForThoseOfTorchrun() {
        environment = {{"SLURM_PROCID", "3"},
                       {"SLURM_LOCALID", "0"},
                       {"SLURM_NODEID", "1"},
                       {"SLURM_STEP_NUM_TASKS", "5"},
                       {"SLURM_STEP_TASKS_PER_NODE", "3,1(x2)"},
                       {"SLURM_STEP_NODELIST", "gpu[07-08,11],login"},
                       {"SLURM_JOB_ID", "4242"},
                       {"SLURM_STEP_ID", "1"},
                       {"SLURM_RESTART_COUNT", "2"}};
        const auto read = torchrunEnvironmentFrom(lookUp);
        QVERIFY(read);
        QCOMPARE(*read, (TorchrunEnvironment{3, 0, 5, 1, "gpu07", 12000 + (4242 * 7 + 1) % 18000, 3,
                                             "slurm-4242-1", false, ""}));
        // What a person sets stays.
        environment["MASTER_PORT"] = "29500";
        QCOMPARE(torchrunEnvironmentFrom(lookUp)->masterPort, 29500);
        // A shell in an allocation is no rank; an agent in a job sets torchrun's.
        environment.erase("SLURM_STEP_NUM_TASKS");
        QCOMPARE(torchrunEnvironmentFrom(lookUp)->worldSize, 1);
        environment["SLURM_STEP_NUM_TASKS"] = "5";
        environment["WORLD_SIZE"] = "1";
        QCOMPARE(torchrunEnvironmentFrom(lookUp)->worldSize, 1);
    }

    void listsOfSlurmAreRead_data() {
        QTest::addColumn<QString>("list");
        QTest::addColumn<QString>("first");
        QTest::newRow("one") << "n1"
                             << "n1";
        QTest::newRow("two names") << "a,b"
                                   << "a";
        QTest::newRow("a range") << "n[1-2,5]"
                                 << "n1";
        QTest::newRow("with zeros") << "gpu[007-012]-ib"
                                    << "gpu007-ib";
        QTest::newRow("two brackets") << "r[1-2]n[3-4],x"
                                      << "r1n3";
        QTest::newRow("after a name") << "login,n[1-2]"
                                      << "login";
        QTest::newRow("cut") << "n[1"
                             << "";
        QTest::newRow("nothing") << ""
                                 << "";
    }

    void listsOfSlurmAreRead() {
        QFETCH(QString, list);
        QFETCH(QString, first);
        QCOMPARE(QString::fromStdString(firstHostOf(list.toStdString())), first);
        QCOMPARE(tasksOnNode("2(x3),1", 2), 2);
        QCOMPARE(tasksOnNode("2(x3),1", 3), 1);
        QCOMPARE(tasksOnNode("2(x3),1", 4), 0);
        QCOMPARE(tasksOnNode("x(", 0), 0);
    }

    void wrongEnvironmentIsNamed_data() {
        QTest::addColumn<QString>("name");
        QTest::addColumn<QString>("value");
        QTest::newRow("rank beyond the world") << "RANK"
                                               << "4";
        QTest::newRow("negative") << "RANK"
                                  << "-1";
        QTest::newRow("no number") << "WORLD_SIZE"
                                   << "four";
        QTest::newRow("number and more") << "WORLD_SIZE"
                                         << "4x";
        QTest::newRow("no such port") << "MASTER_PORT"
                                      << "70000";
        QTest::newRow("master missing") << "MASTER_ADDR"
                                        << "";
    }

    void wrongEnvironmentIsNamed() {
        QFETCH(QString, name);
        QFETCH(QString, value);
        environment = {{"RANK", "1"},
                       {"WORLD_SIZE", "4"},
                       {"MASTER_ADDR", "10.0.0.1"},
                       {"MASTER_PORT", "29500"}};
        environment[name.toStdString()] = value.toStdString();
        const auto read = torchrunEnvironmentFrom(lookUp);
        QVERIFY(!read);
        QVERIFY2(read.error().message.find(name.toStdString()) != std::string::npos,
                 read.error().message.c_str());
    }

    void gradientsOfASmallModelTravelInManyBuckets() {
        constexpr int64_t kMiB = 1 << 20;
        const std::vector<at::Tensor> values(100, at::empty({kMiB / 4})); // 100 of 1 MiB
        const auto buckets = gradientBuckets(values, 25 * kMiB);
        QCOMPARE(buckets.front(), std::vector<size_t>{99}); // the first to arrive sets out at once
        QCOMPARE(buckets[1], (std::vector<size_t>{96, 97, 98}));
        QCOMPARE(buckets.back(), std::vector<size_t>{0}); // for the last nothing hides its way
        QCOMPARE(gradientBuckets(values, kMiB).size(), values.size());
    }

    void bucketsOfALargeModelAreAsLargeAsAllowed() {
        constexpr int64_t kMiB = 1 << 20;
        const std::vector<at::Tensor> values(400, at::empty({kMiB})); // 400 of 4 MiB
        const auto buckets = gradientBuckets(values, 25 * kMiB);
        QCOMPARE(buckets.front().size(), size_t{1});
        QCOMPARE(buckets[1].size(), size_t{7}); // the seventh fills 25 MiB
        size_t all = 0;
        for (const auto& bucket : buckets)
            all += bucket.size();
        QCOMPARE(all, values.size());
    }

    void tensorsWaitForNoLaterOneOnceTheirBucketIsFull() {
        constexpr int64_t kKiB = 1 << 8; // elements of float32
        const auto sized = [](int64_t kib) { return at::empty({kib * kKiB}); };
        // As a small GPT's: embeddings, then what a block has.
        const std::vector<at::Tensor> values{sized(384), sized(384), sized(1728), sized(576),
                                             sized(2304)};
        const std::vector<std::vector<size_t>> expected{{4}, {2, 3}, {0, 1}};
        QCOMPARE(gradientBuckets(values, 25 << 20), expected);
    }

    void whoMeetsWaitsUntilSomebodyListens() {
        sockaddr_in place{};
        place.sin_family = AF_INET;
        place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        socklen_t size = sizeof place;
        const Descriptor listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
        QVERIFY(listener);
        auto* address = reinterpret_cast<sockaddr*>(&place);
        QCOMPARE(::bind(listener.get(), address, size), 0); // ours, and refused until listen()
        QCOMPARE(::getsockname(listener.get(), address, &size), 0);
        const int port = ntohs(place.sin_port);
        QVERIFY(!awaitListener("127.0.0.1", port, std::chrono::milliseconds(20)));
        auto waiting = std::async(std::launch::async, [port] {
            awaitListener("127.0.0.1", port, std::chrono::minutes(5));
        });
        QVERIFY(waiting.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout);
        QCOMPARE(::listen(listener.get(), 1), 0);
        QVERIFY(waiting.wait_for(std::chrono::seconds(30)) == std::future_status::ready);
    }

    void anAddressOfAnotherMachineIsNotListenedAt() {
        for (const char* host : {"192.0.2.1", "2001:db8::1"})
            for (const bool isOneMachine : {false, true}) {
                const auto listening = listenAt(host, 0, isOneMachine);
                QVERIFY2(!listening, host);
                QCOMPARE(listening.error().code, ErrorCode::kNotFound);
                QVERIFY(listening.error().message.find(host) != std::string::npos);
            }
    }

    /// Also on a machine that keeps the families apart (net.ipv6.bindv6only).
    void everyAddressIsThoseOfBothFamilies() {
        bool isApart = false, isConnected = false;
        std::thread([&] { // whose network ends with it
            std::ofstream setting;
            isApart = ::unshare(CLONE_NEWNET) == 0 && std::system("ip link set lo up") == 0 &&
                      (setting.open("/proc/sys/net/ipv6/bindv6only"), setting << 1) &&
                      setting.flush();
            const auto listening = listenAt("::", kOwnPort, true);
            if (!isApart || !listening)
                return;
            sockaddr_in place{};
            place.sin_family = AF_INET;
            place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
            place.sin_port = htons(kOwnPort);
            const Descriptor other(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
            isConnected = ::connect(other.get(), reinterpret_cast<const sockaddr*>(&place),
                                    sizeof place) == 0;
        })
            .join();
        RM_NEEDS("netns", isApart, QString("a network of its own cannot be made"));
        QVERIFY(isConnected);
    }

    void aPortThatIsTakenIsNamed() {
        const auto first = listenAt("localhost", 0, false);
        QVERIFY2(first, first ? "" : first.error().message.c_str());
        sockaddr_storage place{};
        socklen_t size = sizeof place;
        auto* address = reinterpret_cast<sockaddr*>(&place);
        QCOMPARE(::getsockname(first->get(), address, &size), 0);
        const int port = ntohs(reinterpret_cast<sockaddr_in*>(address)->sin_port); // as in IPv6
        const auto second = listenAt("localhost", port, true);
        QVERIFY(!second);
        QCOMPARE(second.error().code, ErrorCode::kUnavailable);
        QVERIFY(second.error().message.find(placeName("localhost", port)) != std::string::npos);
        QCOMPARE(placeName("fd00::1", 29500), std::string("[fd00::1]:29500"));
    }

    void aPickleNestedTooDeepIsRefused_data() {
        QTest::addColumn<QByteArray>("code");
        QTest::addColumn<QString>("words");
        constexpr int kDeep = 1000000; // LibTorch would overflow the stack
        const QByteArray list = "]q", again = "h", nothing("\0", 1), one("\1", 1);
        QTest::newRow("tuples") << ")" + QByteArray(kDeep, '\x85') << "more than 200 deep";
        QTest::newRow("lists") << "]" + QByteArray("(]").repeated(kDeep) + QByteArray(kDeep, 'e')
                               << "more than 200 deep";
        QTest::newRow("pairs") << "N" + QByteArray("N\x86").repeated(kDeep) << "more than 200 deep";
        QTest::newRow("a list in itself") << list + nothing + "(" + again + nothing + "e"
                                          << "an object holds itself";
        // The second list is in the first when it gets a third.
        QTest::newRow("from below") << "(" + list + nothing + list + one + "(" + again + nothing +
                                           "(" + again + one + "e" + again + one + "(]et" + "t"
                                    << "grows after another has it";
    }

    void aPickleNestedTooDeepIsRefused() {
        QFETCH(QByteArray, code);
        QFETCH(QString, words);
        const QByteArray pickle = "\x80\x02" + code + ".";
        const auto plain = toPlainPickle(
            std::as_bytes(std::span(pickle.constData(), static_cast<size_t>(pickle.size()))),
            "x.pt");
        QVERIFY(!plain);
        QCOMPARE(plain.error().code, ErrorCode::kCorrupt);
        const auto message = QString::fromStdString(plain.error().message);
        QVERIFY2(message.contains("x.pt") && message.contains(words), qPrintable(message));
    }

    void aPickleMayBeNestedAndShareObjects() {
        // A list that is complete is held twice, and the whole is 150 deep.
        const QByteArray pickle =
            QByteArray("\x80\x02(]q\0(K\1K\2eh\0t", 15) + QByteArray(150, '\x85') + ".";
        const auto plain = toPlainPickle(
            std::as_bytes(std::span(pickle.constData(), static_cast<size_t>(pickle.size()))),
            "x.pt");
        QVERIFY2(plain, plain ? "" : plain.error().message.c_str());
    }

    void everyKindButKillIsAnOrder() {
        for (int kind = 0; kind <= static_cast<int>(CommandKind::kKill); ++kind) {
            Command command{"id", static_cast<CommandKind>(kind), {}};
            if (command.kind == CommandKind::kSet)
                command.args = {{"train.log_every", "5"}};
            const auto order = parseOrder(command);
            QCOMPARE(order.has_value(), command.kind != CommandKind::kKill);
            if (order)
                QCOMPARE(order->kind, command.kind);
        }
    }

    void stateComesBack() {
        const TrainState state = someState();
        const auto back = parseTrainState(toJson(state), "state.json");
        QVERIFY2(back, back ? "" : back.error().message.c_str());
        QCOMPARE(back->step, state.step);
        QCOMPARE(back->cursor, state.cursor);
        QCOMPARE(back->settings, state.settings);
        QCOMPARE(back->rngStates, state.rngStates);
        QCOMPARE(back->validationLoss, 1.25);
        QCOMPARE(back->positionsPerStep, 32);
        QVERIFY(std::isnan(back->watched.last) && std::isnan(back->watched.bestSaved));
        QCOMPARE(back->watched.best, 0.75);
        QCOMPARE(back->watched.sinceBest, 3);
        QCOMPARE(back->watched.bestSavedStep, 8);
        QCOMPARE(back->lossScale, 1024.0);
        QCOMPARE(back->finiteSteps, 11);
        QCOMPARE(back->skippedSteps, 2);
    }

    void stateOfAReleaseWithFewerSettingsIsRead() {
        std::string text = toJson(someState());
        const std::string clip = ",\n  \"optimizer.clip\": null";
        const size_t at = text.find(clip);
        QVERIFY(at != text.npos);
        text.erase(at, clip.size());
        QCOMPARE(parseTrainState(text, "s")->settings, someState().settings);
    }

    void stateWithAnUnknownSettingIsRefusedByName() {
        std::string text = toJson(someState());
        text.replace(text.find("optimizer.clip"), 14, "optimizer.spin");
        const auto state = parseTrainState(text, "s");
        QVERIFY(!state && state.error().message.find("optimizer.spin") != std::string::npos);
    }

    void stateCutAnywhereIsRefused() {
        const std::string text = toJson(someState());
        for (size_t size = 0; size + 2 < text.size(); ++size)
            QCOMPARE(parseTrainState(text.substr(0, size), "s").error().code, ErrorCode::kCorrupt);
    }

    void stateFromTheFutureIsRefused() {
        QCOMPARE(parseTrainState(R"({"version": 2})", "s").error().code, ErrorCode::kTooNew);
    }

    void exceptionsBecomeExitCodes() {
        QCOMPARE(endingOf(std::bad_alloc()).code, ExitCode::kExhausted);
        QCOMPARE(
            endingOf(std::runtime_error("DefaultCPUAllocator: can't allocate memory: you tried "
                                        "to allocate 1 bytes. Error code 12"))
                .code,
            ExitCode::kExhausted);
        QCOMPARE(endingOf(std::runtime_error("[/gloo/transport/tcp/pair.cc:1] Connection closed "
                                             "by peer [127.0.0.1]"))
                     .code,
                 ExitCode::kPeerLost);
        const Ending other = endingOf(std::runtime_error("shapes differ\nbacktrace"));
        QCOMPARE(other.code, ExitCode::kFailed);
        QCOMPARE(other.message, "train: shapes differ");
    }
};

QTEST_GUILESS_MAIN(TestTrainerParts)
#include "tst_trainer_parts.moc"
