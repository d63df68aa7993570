// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/deploy.h"
#include "app/core/deploy/transfer_chain.h"
#include "shared/io/file.h"
#include "tests/integration/testbed.h"
#include "tests/support/requirement.h"

#include <QDir>
#include <QTest>

#include <atomic>
#include <future>
#include <random>

using namespace rm;

/// One tree to four nodes, which reach each other but not the other side of the laptop's slow
/// links: this process is in the laptop's namespace.
class DeployChainTest : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void initTestCase();
    void init();
    void cleanupTestCase();

    void theUplinkCarriesATreeOnceForFourNodes();
    void aNodeThatHasItPassesItOn();
    void aNodeThatLostItsStoredFilesIsLeft();
    void whatWasCutGoesOnWhereItEnded();
    void aNodeKilledInTheMiddleCostsTheOthersNothing();
    void whoCannotReachTheOthersIsServedFromHere(); // last, as node 0 keeps no route to them

private:
    static constexpr int kCount = 4;
    using Answers = std::vector<Result<std::string>>;
    using OnProgress = std::function<void(int node, const Transferred&)>;

    /// A tree whose bytes were in no other.
    LocalTree newTree();
    /// To these nodes at once, as a launch does it.
    Answers deploy(const LocalTree& tree, const std::vector<int>& nodes,
                   const OnProgress& onProgress = {}, std::stop_token stop = {});
    int64_t bytesFromLaptop() const;
    bool isWhole(const LocalTree& tree, const Result<std::string>& folder) const;
    bool areWhole(const LocalTree& tree, const Answers& answers) const;

    QTemporaryDir m_folder;
    std::unique_ptr<Testbed> m_bed;
    int m_trees = 0;
};

namespace {

constexpr size_t kBytes = 6'000'000;
/// Beside the tree itself: SSH, acknowledgements, what is asked and answered.
constexpr int64_t kBeside = 1'500'000;

std::string noise(unsigned seed, size_t size) {
    std::mt19937_64 random(seed);
    std::string text(size, '\0');
    for (char& c : text)
        c = static_cast<char>(random());
    return text;
}

QByteArray wordsOf(const std::vector<Result<std::string>>& answers) {
    QByteArray words;
    for (const auto& answer : answers)
        words += QByteArray::fromStdString(answer ? *answer : answer.error().message) + '\n';
    return words;
}

} // namespace

void DeployChainTest::initTestCase() {
    const auto can = Testbed::canRun();
    RM_NEEDS("netns", can, QString::fromStdString(can.error().message));
    Testbed::Options options;
    options.nodes = kCount;
    auto bed = Testbed::create("chain", options);
    QVERIFY2(bed, bed ? "" : bed.error().message.c_str());
    m_bed = std::move(*bed);
    const auto acting = m_bed->actAsLaptop();
    QVERIFY2(acting, acting ? "" : acting.error().message.c_str());
    for (int i = 0; i < kCount; ++i) {
        const auto opened = openNode(m_bed->node(i), {}, {});
        QVERIFY2(opened, opened ? "" : opened.error().error.message.c_str());
    }
}

void DeployChainTest::cleanupTestCase() {
    m_bed.reset();
}

void DeployChainTest::init() {
    for (int i = 0; i < kCount; ++i)
        QVERIFY(m_bed->lab().setManagementRate(i, "20mbit"));
}

LocalTree DeployChainTest::newTree() {
    const std::string folder = m_folder.filePath(QString("tree-%1").arg(++m_trees)).toStdString();
    QDir().mkpath(QString::fromStdString(folder) + "/lib");
    LocalTree tree{"bundles", {}};
    unsigned seed = 100u * static_cast<unsigned>(m_trees);
    for (const size_t size : {kBytes / 10, kBytes / 10 * 8, kBytes / 10, size_t{40}, size_t{0}}) {
        const std::string name = "lib/" + std::to_string(seed++) + ".so";
        if (!writeFileAtomically(folder + "/" + name, noise(seed, size)))
            qFatal("write a file of the tree");
        tree.files.push_back({name, folder + "/" + name, size == 40});
    }
    return tree;
}

DeployChainTest::Answers DeployChainTest::deploy(const LocalTree& tree,
                                                 const std::vector<int>& nodes,
                                                 const OnProgress& onProgress,
                                                 std::stop_token stop) {
    std::vector<TransferChain::Party> parties;
    for (const int index : nodes)
        parties.push_back({m_bed->node(index).name,
                           {NetworkLab::managementAddress(index).toStdString(),
                            NetworkLab::dataAddress(index).toStdString()}});
    const auto chain = std::make_shared<TransferChain>(std::move(parties));
    std::vector<std::future<Result<std::string>>> answers;
    for (size_t i = 0; i < nodes.size(); ++i)
        answers.push_back(std::async(std::launch::async, [&, i]() -> Result<std::string> {
            ChainPlace place(chain, i);
            auto opened = openNode(m_bed->node(nodes[i]), {}, stop);
            if (!opened)
                return tl::unexpected(opened.error().error);
            const auto report = [&](const Transferred& transferred) {
                if (onProgress)
                    onProgress(nodes[i], transferred);
            };
            return deployTree(*opened->session, opened->agent, tree, report, stop, &place);
        }));
    Answers all;
    for (auto& answer : answers)
        all.push_back(answer.get());
    return all;
}

int64_t DeployChainTest::bytesFromLaptop() const {
    int64_t bytes = 0;
    for (int i = 0; i < kCount; ++i)
        bytes += m_bed->lab().managementBytesTo(i);
    return bytes;
}

bool DeployChainTest::isWhole(const LocalTree& tree, const Result<std::string>& folder) const {
    return folder && std::ranges::all_of(tree.files, [&](const LocalTree::File& file) {
               const auto here = sha256HexOfFile(file.local),
                          there = sha256HexOfFile(*folder + "/" + file.path);
               return here && there && *here == *there;
           });
}

bool DeployChainTest::areWhole(const LocalTree& tree, const Answers& answers) const {
    return std::ranges::all_of(answers, [&](const auto& answer) { return isWhole(tree, answer); });
}

void DeployChainTest::theUplinkCarriesATreeOnceForFourNodes() {
    const LocalTree tree = newTree();
    std::mutex mutex;
    std::map<int, std::set<std::string>> from;
    const int64_t before = bytesFromLaptop();
    const Answers answers =
        deploy(tree, {0, 1, 2, 3}, [&](int index, const Transferred& transferred) {
            const std::lock_guard lock(mutex);
            from[index].insert(transferred.from);
        });
    const int64_t carried = bytesFromLaptop() - before;
    QVERIFY2(areWhole(tree, answers), wordsOf(answers));
    qInfo("%lld bytes of a tree of %zu left the laptop", static_cast<long long>(carried), kBytes);
    QVERIFY(carried > static_cast<int64_t>(kBytes));
    QVERIFY2(carried < static_cast<int64_t>(kBytes) + kBeside,
             qPrintable(QString::number(carried)));
    QVERIFY(from[0].contains(""));
    for (int i = 1; i < kCount; ++i)
        QVERIFY2(from[i].contains(Testbed::nodeName(i - 1).toStdString()),
                 qPrintable(QString::number(i)));
}

void DeployChainTest::aNodeThatHasItPassesItOn() {
    const LocalTree tree = newTree();
    QVERIFY(isWhole(tree, deploy(tree, {2}).front()));
    const int64_t before = bytesFromLaptop();
    const Answers answers = deploy(tree, {0, 1, 2, 3});
    const int64_t carried = bytesFromLaptop() - before;
    QVERIFY2(areWhole(tree, answers), wordsOf(answers));
    QVERIFY2(carried < kBeside, qPrintable(QString::number(carried)));
}

void DeployChainTest::aNodeThatLostItsStoredFilesIsLeft() {
    const LocalTree tree = newTree();
    const auto first = deploy(tree, {2}).front();
    QVERIFY(isWhole(tree, first));
    for (const LocalTree::File& file : tree.files)
        QVERIFY(QFile::remove(QString::fromStdString(*first + "/../../blobs/" +
                                                     sha256HexOfFile(file.local).value_or(""))));
    std::stop_source stop;
    auto later = std::async(std::launch::async, [&] {
        return deploy(tree, {0, 2}, {}, stop.get_token());
    });
    if (later.wait_for(std::chrono::seconds(90)) != std::future_status::ready)
        stop.request_stop(); // it waits for ever
    const Answers answers = later.get();
    QVERIFY2(areWhole(tree, answers), wordsOf(answers));
}

void DeployChainTest::whatWasCutGoesOnWhereItEnded() {
    const LocalTree tree = newTree();
    const int64_t before = bytesFromLaptop();
    std::stop_source stop;
    std::atomic<int64_t> least = 0; ///< that the last node had when it was cut
    const Answers cut = deploy(
        tree, {0, 1, 2, 3},
        [&](int index, const Transferred& transferred) {
            if (index == 3 && transferred.done > static_cast<int64_t>(kBytes) / 3) {
                least = std::max<int64_t>(least, transferred.done);
                stop.request_stop();
            }
        },
        stop.get_token());
    for (const auto& answer : cut)
        QVERIFY(!answer);
    QVERIFY(least > 0);
    std::mutex mutex;
    std::map<int, int64_t> total;
    const Answers answers =
        deploy(tree, {0, 1, 2, 3}, [&](int index, const Transferred& transferred) {
            const std::lock_guard lock(mutex);
            total[index] = transferred.total;
        });
    const int64_t carried = bytesFromLaptop() - before;
    QVERIFY2(areWhole(tree, answers), wordsOf(answers));
    QVERIFY2(carried < static_cast<int64_t>(kBytes) + 2 * kBeside,
             qPrintable(QString::number(carried)));
    QVERIFY2(total[3] <= static_cast<int64_t>(kBytes) - least + (1 << 20),
             qPrintable(QString("%1 after %2").arg(total[3]).arg(least)));
}

void DeployChainTest::whoCannotReachTheOthersIsServedFromHere() {
    const LocalTree tree = newTree();
    QVERIFY(m_bed->lab().setDataLink(false)); // of node 0 alone
    const int64_t before = bytesFromLaptop();
    const Answers answers = deploy(tree, {0, 2, 3});
    const int64_t carried = bytesFromLaptop() - before;
    QVERIFY2(areWhole(tree, answers), wordsOf(answers));
    // Once to node 0 and once for the others.
    QVERIFY2(carried < 2 * (static_cast<int64_t>(kBytes) + kBeside),
             qPrintable(QString::number(carried)));
}

void DeployChainTest::aNodeKilledInTheMiddleCostsTheOthersNothing() {
    const LocalTree tree = newTree();
    const int64_t before = bytesFromLaptop();
    std::atomic<bool> isKilled = false;
    const Answers answers =
        deploy(tree, {0, 1, 2, 3}, [&](int index, const Transferred& transferred) {
            if (index == 2 && transferred.done > static_cast<int64_t>(kBytes) / 3 &&
                !isKilled.exchange(true))
                m_bed->lab().killAllOn(1);
        });
    QVERIFY(isKilled);
    const int64_t carried = bytesFromLaptop() - before;
    QVERIFY(!answers[1]);
    for (const int i : {0, 2, 3})
        QVERIFY2(isWhole(tree, answers[static_cast<size_t>(i)]), wordsOf(answers));
    // Node 2 went on with what node 0 has.
    QVERIFY2(carried < static_cast<int64_t>(kBytes) + kBeside,
             qPrintable(QString::number(carried)));
}

QTEST_GUILESS_MAIN(DeployChainTest)
#include "tst_deploy_chain.moc"
