// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "shared/io/frame.h"
#include "shared/io/json.h"
#include "tests/support/requirement.h"
#include "tests/support/small_disk.h"
#include "trainer/agent/receive/bundle_check.h"
#include "trainer/agent/receive/receiver.h"

#include <QDateTime>
#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QTemporaryDir>
#include <QTest>

#include <fcntl.h>
#include <sys/stat.h>
#include <zstd.h>

#include <algorithm>
#include <thread>

using namespace rm;

namespace {

std::vector<std::byte> bytesOf(const std::string& text) {
    const auto view = std::as_bytes(std::span(text));
    return {view.begin(), view.end()};
}

Blob blobOf(const std::string& text) {
    return {sha256Hex(bytesOf(text)), static_cast<int64_t>(text.size())};
}

Chunk chunkOf(const std::string& text) {
    Chunk chunk;
    chunk.zstd.resize(ZSTD_compressBound(text.size()));
    chunk.zstd.resize(
        ZSTD_compress(chunk.zstd.data(), chunk.zstd.size(), text.data(), text.size(), 1));
    return chunk;
}

std::string noise(size_t size, unsigned seed) {
    std::string text(size, '\0');
    for (char& c : text)
        c = static_cast<char>((seed = seed * 1664525u + 1013904223u) >> 24);
    return text;
}

/// One receiver at a home, and what an app would say to it.
struct Fixture {
    std::string home;
    Receiver receiver;

    explicit Fixture(std::string folder)
        : home(std::move(folder))
        , receiver(home) {
        const auto prepared = receiver.prepare();
        QVERIFY(prepared.has_value());
    }

    Missing offer(const std::vector<Blob>& blobs) {
        const auto answer = receiver.onTransfer(Offer{blobs});
        return answer && *answer ? std::get<Missing>(**answer) : Missing{{{"refused", -1}}};
    }
    Result<std::optional<Transfer>> sendRest(const std::string& text, int64_t offset) {
        for (size_t at = static_cast<size_t>(offset); at < text.size(); at += kMaxChunk) {
            auto sent = receiver.onTransfer(chunkOf(text.substr(at, kMaxChunk)));
            if (!sent)
                return sent;
        }
        return receiver.onTransfer(BlobEnd{blobOf(text).sha256});
    }
    Result<std::optional<Transfer>> store(const std::string& text) {
        const Missing missing = offer({blobOf(text)});
        return missing.blobs.empty() ? Result<std::optional<Transfer>>(std::nullopt)
                                     : sendRest(text, missing.blobs[0].offset);
    }
    std::string blobPath(const std::string& text) const {
        return home + "/blobs/" + blobOf(text).sha256;
    }
    Result<std::optional<Transfer>> tree(std::vector<TreeEntry> entries,
                                         const std::string& kind = "bundles") {
        return receiver.onTransfer(Tree{kind, treeId(entries), entries});
    }
};

bool exists(const std::string& path) {
    return QFileInfo::exists(QString::fromStdString(path));
}

std::vector<TreeEntry> bundleEntries() {
    return {{"bin/p", blobOf("program").sha256, true},
            {"lib/a.so", blobOf("library").sha256, false}};
}

/// A bundle of these; its folder.
std::string bundleOf(Fixture& f) {
    const bool stored = f.store("program").has_value() && f.store("library").has_value();
    const auto ready = f.tree(bundleEntries());
    return stored && ready ? std::get<TreeReady>(**ready).path : std::string();
}

/// In place, so that every hard link of the file changes.
void overwriteFirstByte(const std::string& path) {
    QCOMPARE(::chmod(path.c_str(), 0600), 0);
    QFile file(QString::fromStdString(path));
    QVERIFY(file.open(QIODevice::ReadWrite));
    QCOMPARE(file.write("L"), 1);
}

QStringList filesIn(const std::string& folder) {
    return QDir(QString::fromStdString(folder))
        .entryList(QDir::AllEntries | QDir::Hidden | QDir::NoDotAndDotDot);
}

} // namespace

class TestAgentReceive : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() { m_dir = std::make_unique<QTemporaryDir>(); }

    void blobIsStoredUnderItsHashForItsOwner() {
        Fixture f(home());
        const std::string text = noise(3 * kMaxChunk + 5, 1);
        const auto stored = f.store(text);
        QVERIFY(stored.has_value());
        QCOMPARE(std::get<Stored>(**stored).sha256, blobOf(text).sha256);
        QCOMPARE(*readFile(f.blobPath(text)), text);
        struct stat info = {};
        QCOMPARE(::stat(f.blobPath(text).c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777, mode_t(0400));
    }

    void storedBlobIsNeverAskedForAgain() {
        Fixture f(home());
        QVERIFY(f.store("once").has_value());
        QVERIFY(f.offer({blobOf("once")}).blobs.empty());
        QVERIFY(Fixture(home()).offer({blobOf("once")}).blobs.empty());
    }

    void emptyBlobIsABlob() {
        Fixture f(home());
        QVERIFY(f.store("").has_value());
        QVERIFY(exists(f.blobPath("")));
    }

    void cutTransferIsResumedWhereItEnded() {
        const std::string text = noise(2 * kMaxChunk, 2);
        {
            Fixture cut(home());
            cut.offer({blobOf(text)});
            QVERIFY(cut.receiver.onTransfer(chunkOf(text.substr(0, kMaxChunk))).has_value());
        }
        Fixture f(home());
        const Missing missing = f.offer({blobOf(text)});
        QCOMPARE(missing.blobs.at(0).offset, int64_t(kMaxChunk));
        QVERIFY(f.sendRest(text, missing.blobs[0].offset).has_value());
        QCOMPARE(*readFile(f.blobPath(text)), text);
        QCOMPARE(filesIn(home() + "/blobs").size(), 1);
    }

    void wrongBytesNeverGetTheName() {
        Fixture f(home());
        f.offer({blobOf("right")});
        QVERIFY(f.receiver.onTransfer(chunkOf("wrong")).has_value());
        const auto ended = f.receiver.onTransfer(BlobEnd{blobOf("right").sha256});
        QVERIFY(!ended.has_value());
        QCOMPARE(ended.error().code, ErrorCode::kCorrupt);
        QVERIFY(filesIn(home() + "/blobs").isEmpty());
        QVERIFY(f.store("right").has_value());
    }

    void corruptPartialIsFoundAtTheEndAndBegunAnew() {
        Fixture f(home());
        QVERIFY(writeFileAtomically(f.blobPath("0123456789") + ".part", "xxxx").has_value());
        QVERIFY(!f.store("0123456789").has_value());
        QCOMPARE(f.offer({blobOf("0123456789")}).blobs.at(0).offset, int64_t(0));
        QVERIFY(f.sendRest("0123456789", 0).has_value());
    }

    void whatAnInstalledTorchHasIsNotAskedFor() {
        const std::string library = noise(200'000, 3), other = noise(200'000, 4);
        const std::string site = home() + "/../site-packages";
        QVERIFY(QDir().mkpath(QString::fromStdString(site) + "/torch/lib"));
        QVERIFY(QDir().mkpath(QString::fromStdString(site) + "/nvidia/cudnn/lib"));
        QVERIFY(writeFileAtomically(site + "/torch/lib/libtorch_cpu.so", library).has_value());
        // Of the same size, and another version.
        QVERIFY(writeFileAtomically(site + "/nvidia/cudnn/lib/libcudnn.so.9", noise(200'000, 5))
                    .has_value());
        Fixture f(home());
        f.receiver = Receiver(home(), {site});
        const auto requested =
            f.receiver.onTransfer(Offer{{blobOf(library), blobOf("ours")}, true});
        QCOMPARE(std::get<Missing>(**requested).blobs.size(), size_t{1});
        QVERIFY(!exists(f.blobPath(library)));
        const Missing missing = f.offer({blobOf(library), blobOf(other), blobOf("ours")});
        QCOMPARE(missing.reused, int64_t(library.size()));
        QCOMPARE(missing.blobs.size(), size_t{2});
        QCOMPARE(missing.blobs[0].sha256, blobOf(other).sha256);
        QCOMPARE(*readFile(f.blobPath(library)), library);
        // What its owner does to it does not change what is executed here.
        overwriteFirstByte(site + "/torch/lib/libtorch_cpu.so");
        QCOMPARE(*readFile(f.blobPath(library)), library);
        struct stat info = {};
        QCOMPARE(::stat(f.blobPath(library).c_str(), &info), 0);
        QCOMPARE(info.st_mode & 0777, mode_t(0400));
    }

    /// So that who offers three gigabytes of it hears of the node meanwhile.
    void howMuchOfAnInstalledTorchIsTakenOverIsTold() {
        const std::string first = noise(1'500'000, 6), second = noise(1'400'000, 7);
        const std::string site = home() + "/../site-packages-2";
        QVERIFY(QDir().mkpath(QString::fromStdString(site) + "/torch/lib"));
        QVERIFY(writeFileAtomically(site + "/torch/lib/libc10.so", first).has_value());
        QVERIFY(writeFileAtomically(site + "/torch/lib/libtorch.so", second).has_value());
        std::vector<int64_t> reported;
        Fixture f(home());
        f.receiver =
            Receiver(home(), {site}, [&reported](int64_t bytes) { reported.push_back(bytes); });
        const std::vector<Blob> blobs = {blobOf(first), blobOf(second), blobOf("ours")};
        QVERIFY(f.receiver.onTransfer(Offer{blobs, true}).has_value());
        QVERIFY(reported.empty());
        QCOMPARE(f.offer(blobs).reused, int64_t(first.size() + second.size()));
        // Each is read before and after it is copied.
        QVERIFY(std::ranges::count(reported, 0) >= 4);
        QVERIFY(std::ranges::count(reported, int64_t(first.size())) >= 4);
        QVERIFY(std::ranges::is_sorted(reported));
    }

    void hostileTransfersAreRefused_data() {
        QTest::addColumn<int>("which");
        QTest::newRow("chunk that nobody asked for") << 0;
        QTest::newRow("end that nobody asked for") << 1;
        QTest::newRow("blob named by a path") << 2;
        QTest::newRow("blob of negative size") << 3;
        QTest::newRow("more than announced") << 4;
        QTest::newRow("not zstd") << 5;
        QTest::newRow("bomb") << 6;
        QTest::newRow("end of another blob") << 7;
        QTest::newRow("an agent's message") << 8;
        QTest::newRow("upper-case hash") << 9;
    }
    void hostileTransfersAreRefused() {
        QFETCH(int, which);
        Fixture f(home());
        if (which >= 4 && which <= 7)
            f.offer({blobOf("abc")});
        const std::vector<Transfer> transfers = {
            chunkOf("abc"),
            BlobEnd{blobOf("abc").sha256},
            Offer{{{"../../../../tmp/x", 3}}},
            Offer{{{blobOf("abc").sha256, -1}}},
            chunkOf("abcd"),
            Chunk{bytesOf("not zstd")},
            chunkOf(std::string(kMaxChunk + 1, 'x')),
            BlobEnd{blobOf("other").sha256},
            Stored{blobOf("abc").sha256},
            Offer{{{std::string(64, 'A'), 3}}},
        };
        const auto answer = f.receiver.onTransfer(transfers[static_cast<size_t>(which)]);
        QVERIFY(!answer.has_value());
        QVERIFY(!exists(f.blobPath("abc")));
    }

    void treeIsMadeOfItsBlobs() {
        Fixture f(home());
        QVERIFY(f.store("program").has_value());
        QVERIFY(f.store("library").has_value());
        const auto ready = f.tree({{"bin/ringmaster-trainer", blobOf("program").sha256, true},
                                   {"lib/a b.so", blobOf("library").sha256, false}});
        QVERIFY(ready.has_value());
        const std::string path = std::get<TreeReady>(**ready).path;
        QCOMPARE(*readFile(path + "/lib/a b.so"), std::string("library"));
        struct stat program = {}, library = {};
        ::stat((path + "/bin/ringmaster-trainer").c_str(), &program);
        ::stat((path + "/lib/a b.so").c_str(), &library);
        QCOMPARE(program.st_mode & 0777, mode_t(0500));
        QCOMPARE(library.st_mode & 0777, mode_t(0400));
        QCOMPARE(filesIn(home() + "/bundles").size(), 1);
    }

    void treeIsMadeOnceAndMendedWhenHurt() {
        Fixture f(home());
        QVERIFY(f.store("program").has_value());
        const std::vector<TreeEntry> entries = {{"p", blobOf("program").sha256, false}};
        const std::string path = std::get<TreeReady>(**f.tree(entries)).path;
        const timespec longAgo[2] = {};
        QCOMPARE(::utimensat(AT_FDCWD, path.c_str(), longAgo, 0), 0);
        QCOMPARE(std::get<TreeReady>(**f.tree(entries)).path, path);
        // Its time is that of its last use.
        QVERIFY(QFileInfo(QString::fromStdString(path)).lastModified().toSecsSinceEpoch() > 0);
        QVERIFY(QFile::remove(QString::fromStdString(path + "/p")));
        QVERIFY(f.tree(entries).has_value());
        QCOMPARE(*readFile(path + "/p"), std::string("program"));
    }

    void aChangedFileOfABundleIsFoundAndReplaced_data() {
        QTest::addColumn<int>("what");
        QTest::addColumn<QString>("words");
        QTest::addColumn<bool>("blobIsDamaged"); // a hard link of the file
        const QString right = QString::fromStdString(blobOf("library").sha256);
        const QString wrong = QString::fromStdString(blobOf("Library").sha256);
        QTest::newRow("a byte is another")
            << 0 << "has SHA-256 " + wrong + " instead of " + right << true;
        QTest::newRow("gone") << 1 << "is gone, it had SHA-256 " + right << false;
        QTest::newRow("added") << 2 << "was not sent with it and has SHA-256 " + wrong << false;
    }
    void aChangedFileOfABundleIsFoundAndReplaced() {
        QFETCH(int, what);
        QFETCH(QString, words);
        QFETCH(bool, blobIsDamaged);
        Fixture f(home());
        const std::string path = bundleOf(f);
        QVERIFY(verifyBundle(home(), path).has_value());
        const QString library = QString::fromStdString(path + "/lib/a.so");
        if (what == 0)
            overwriteFirstByte(path + "/lib/a.so");
        else if (what == 1)
            QVERIFY(QFile::remove(library));
        else
            QVERIFY(writeFileAtomically(path + "/lib/b.so", "Library").has_value());
        const auto refused = verifyBundle(home(), path);
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().code, ErrorCode::kCorrupt);
        const auto message = QString::fromStdString(refused.error().message);
        QVERIFY2(message.contains(words), qPrintable(message));
        QVERIFY2(message.contains(what == 2 ? "lib/b.so" : "lib/a.so"), qPrintable(message));
        QVERIFY2(message.contains("launch or resume from Ringmaster"), qPrintable(message));

        const auto again = f.tree(bundleEntries());
        QCOMPARE(again.has_value(), !blobIsDamaged);
        if (blobIsDamaged) {
            QCOMPARE(again.error().code, ErrorCode::kCorrupt);
            QVERIFY(QString::fromStdString(again.error().message).contains(words));
            QCOMPARE(f.offer({blobOf("program"), blobOf("library")}).blobs.size(), size_t(1));
            QVERIFY(f.sendRest("library", 0).has_value());
            QVERIFY(f.tree(bundleEntries()).has_value());
        }
        QVERIFY(verifyBundle(home(), path).has_value());
        QCOMPARE(*readFile(path + "/lib/a.so"), std::string("library"));
        QVERIFY(!exists(path + "/lib/b.so"));
    }

    void whatWasVerifiedIsNotReadAgain() {
        Fixture f(home());
        const std::string path = bundleOf(f), library = path + "/lib/a.so";
        overwriteFirstByte(library);
        // As if it had been right when it was last read.
        struct stat now = {};
        QCOMPARE(::stat(library.c_str(), &now), 0);
        const int64_t changedNs = now.st_ctim.tv_sec * INT64_C(1'000'000'000) + now.st_ctim.tv_nsec;
        // Without the device, which is another one on each node that shares the folder.
        const Json known = {{"lib/a.so", {int64_t(now.st_ino), int64_t(now.st_size), changedNs}}};
        QVERIFY(writeFileAtomically(path + "/.ringmaster-verified", dumpJson(known)).has_value());
        QVERIFY(verifyBundle(home(), path).has_value()); // the price of reading nothing
        QVERIFY(QFile::remove(QString::fromStdString(path + "/.ringmaster-verified")));
        QVERIFY(!verifyBundle(home(), path).has_value());
    }

    void aChangeIsFoundThatRestoredTheTimeOfModification() {
        Fixture f(home());
        const std::string path = bundleOf(f), library = path + "/lib/a.so";
        QVERIFY(verifyBundle(home(), path).has_value());
        struct stat before = {};
        QCOMPARE(::stat(library.c_str(), &before), 0);
        overwriteFirstByte(library);
        const timespec times[2] = {before.st_atim, before.st_mtim};
        QCOMPARE(::utimensat(AT_FDCWD, library.c_str(), times, 0), 0);
        QVERIFY(!verifyBundle(home(), path).has_value());
    }

    void aBlobThatWasDamagedLongAgoGoesIntoNoBundle() {
        Fixture f(home());
        QVERIFY(f.store("program").has_value());
        QVERIFY(f.store("library").has_value());
        overwriteFirstByte(f.blobPath("library"));
        const auto refused = f.tree(bundleEntries());
        QVERIFY(!refused.has_value());
        QCOMPARE(refused.error().code, ErrorCode::kCorrupt);
        QVERIFY(filesIn(home() + "/bundles").isEmpty());
        QVERIFY(f.store("library").has_value());
        QVERIFY(f.tree(bundleEntries()).has_value());
    }

    void aBundleWithoutItsListIsRefusedUntilItIsSentAgain() {
        Fixture f(home());
        const std::string path = bundleOf(f);
        const std::string list = path + "/.ringmaster-contents";
        for (const char* text : {"", "other"}) { // "": as releases without lists left it
            QVERIFY(QFile::remove(QString::fromStdString(list)));
            if (*text)
                QVERIFY(writeFileAtomically(list, text).has_value());
            const auto refused = verifyBundle(home(), path);
            QVERIFY(!refused.has_value());
            QCOMPARE(refused.error().code, ErrorCode::kCorrupt);
            QVERIFY(f.tree(bundleEntries()).has_value());
            QVERIFY(verifyBundle(home(), path).has_value());
        }
    }

    void aFolderThatNobodySentIsTakenAsItIs() {
        QVERIFY(verifyBundle(home(), "/opt/made/by/hand").has_value());
    }

    void hostileTreesAreRefused_data() {
        QTest::addColumn<QString>("path");
        for (const char* path : {"", "/etc/x", "../x", "a/../../x", "a//b", "./a", "a/.", "a/",
                                 "a\nb", "..", ".", ".ringmaster-contents"})
            QTest::newRow(path) << QString(path);
        QTest::newRow("long") << QString(2000, 'a');
    }
    void hostileTreesAreRefused() {
        QFETCH(QString, path);
        Fixture f(home());
        QVERIFY(f.store("x").has_value());
        const auto answer = f.tree({{path.toStdString(), blobOf("x").sha256, false}});
        QVERIFY(!answer.has_value());
        QCOMPARE(answer.error().code, ErrorCode::kInvalid);
        QVERIFY(!exists(home() + "/bundles"));
    }

    void treesOfWrongKindIdOrShapeAreRefused() {
        Fixture f(home());
        QVERIFY(f.store("x").has_value());
        const TreeEntry entry{"a", blobOf("x").sha256, false};
        QVERIFY(!f.tree({entry}, "../elsewhere").has_value());
        QVERIFY(!f.tree({entry, entry}).has_value());
        QVERIFY(!f.tree({entry, {"a/b", blobOf("x").sha256, false}}).has_value());
        const auto wrongId = f.receiver.onTransfer(Tree{"bundles", "../x", {entry}});
        QVERIFY(!wrongId.has_value());
        QVERIFY(filesIn(home() + "/bundles").isEmpty());
    }

    void treeOfMissingBlobsLeavesNothing() {
        Fixture f(home());
        const auto answer = f.tree({{"a", blobOf("never sent").sha256, false}});
        QVERIFY(!answer.has_value());
        QCOMPARE(answer.error().code, ErrorCode::kNotFound);
        QVERIFY(filesIn(home() + "/bundles").isEmpty());
    }

    void twoReceiversOfOneBlobDoNotMix() {
        const std::string text = noise(4 * kMaxChunk, 3);
        Fixture one(home()), two(home());
        one.offer({blobOf(text)});
        QVERIFY(one.receiver.onTransfer(chunkOf(text.substr(0, kMaxChunk))).has_value());
        // The second is promised what the first has so far, and the first goes on meanwhile.
        const Missing missing = two.offer({blobOf(text)});
        QCOMPARE(missing.blobs.at(0).offset, int64_t(kMaxChunk));
        QVERIFY(two.receiver.onTransfer(chunkOf(text.substr(kMaxChunk, kMaxChunk))).has_value());
        QVERIFY(one.sendRest(text, kMaxChunk).has_value());
        QCOMPARE(*readFile(one.blobPath(text)), text);
        QVERIFY(two.sendRest(text, 2 * kMaxChunk).has_value());
        QCOMPARE(*readFile(one.blobPath(text)), text);
        QCOMPARE(filesIn(home() + "/blobs").size(), 1);
    }

    void secondReceiverAfterTheFirstPublished() {
        const std::string text = noise(2 * kMaxChunk, 4);
        Fixture one(home()), two(home());
        one.offer({blobOf(text)});
        two.offer({blobOf(text)});
        QVERIFY(one.sendRest(text, 0).has_value());
        QVERIFY(two.sendRest(text, 0).has_value());
        QCOMPARE(*readFile(one.blobPath(text)), text);
    }

    void manyReceiversAtOnce() {
        std::vector<std::string> texts;
        for (unsigned i = 0; i < 20; ++i)
            texts.push_back(noise(50'000 + i, i));
        std::atomic<int> failures = 0;
        std::vector<std::thread> threads;
        for (int i = 0; i < 4; ++i)
            threads.emplace_back([&, this] {
                Fixture f(home());
                for (const std::string& text : texts)
                    failures += !f.store(text).has_value();
            });
        for (std::thread& thread : threads)
            thread.join();
        for (const std::string& text : texts)
            QCOMPARE(*readFile(home() + "/blobs/" + blobOf(text).sha256), text);
        QCOMPARE(failures.load(), 0);
    }

    void partialOfADeadReceiverIsSwept() {
        Fixture f(home());
        const std::string stale = f.blobPath("x") + ".999999.part";
        QVERIFY(writeFileAtomically(stale, "half").has_value());
        Fixture next(home());
        QVERIFY(!exists(stale));
    }

    void moreThanIsFreeIsRefusedAtOnce() {
        Fixture f(home());
        const auto answer = f.receiver.onTransfer(Offer{{{blobOf("x").sha256, int64_t(1) << 60}}});
        QVERIFY(!answer.has_value());
        QCOMPARE(answer.error().code, ErrorCode::kExhausted);
        QVERIFY2(answer.error().message.find("are free") != std::string::npos,
                 answer.error().message.c_str());
    }

    void fullDiskLeavesNoPartOfIt() {
        OwnDisk disk;
        RM_NEEDS("root", disk.error().isEmpty(), disk.error());
        Fixture f(disk.path() + "/home");
        const std::string text = noise(100'000, 5);
        QCOMPARE(f.offer({blobOf(text)}).blobs.size(), size_t(1));
        disk.fill(); // someone else was faster
        const auto sent = f.sendRest(text, 0);
        QVERIFY(!sent.has_value());
        QCOMPARE(sent.error().code, ErrorCode::kExhausted);
        QVERIFY(filesIn(disk.path() + "/home/blobs").isEmpty());
        disk.empty();
        Fixture again(disk.path() + "/home");
        QVERIFY(again.store(text).has_value());
    }

    void streamOverPipesAnswersAndReportsFailure() {
        int in[2], out[2];
        QCOMPARE(::pipe(in), 0);
        QCOMPARE(::pipe(out), 0);
        Result<void> ended;
        std::thread agent([&] { ended = receiveAll(home(), in[0], out[1]); });
        for (const Transfer& transfer :
             {Transfer(Offer{{blobOf("abc")}}), Transfer(chunkOf("abc")),
              Transfer(BlobEnd{blobOf("abc").sha256}), Transfer(BlobEnd{"again"})}) {
            const std::vector<std::byte> frame = frameTransfer(transfer);
            QCOMPARE(::write(in[1], frame.data(), frame.size()), ssize_t(frame.size()));
        }
        agent.join();
        QVERIFY(!ended.has_value());
        std::vector<std::byte> bytes(65536);
        bytes.resize(static_cast<size_t>(::read(out[0], bytes.data(), bytes.size())));
        FrameScanner frames;
        frames.feed(bytes);
        std::vector<size_t> kinds;
        for (auto payload = frames.next(); payload && *payload; payload = frames.next())
            kinds.push_back(decodeTransfer(**payload)->index());
        QCOMPARE(kinds,
                 (std::vector<size_t>{Transfer(Missing{}).index(), Transfer(Stored{}).index(),
                                      Transfer(Failed{}).index()}));
        for (const int fd : {in[0], in[1], out[0], out[1]})
            ::close(fd);
    }

private:
    std::string home() const { return m_dir->path().toStdString(); }
    std::unique_ptr<QTemporaryDir> m_dir;
};

QTEST_GUILESS_MAIN(TestAgentReceive)
#include "tst_agent_receive.moc"
