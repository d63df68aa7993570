// SPDX-License-Identifier: Apache-2.0
#include "shared/io/frame.h"
#include "shared/wire/receive.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <algorithm>
#include <set>

using namespace rm;

namespace {

const std::string kSha(64, 'a');

Result<Transfer> decodeText(const std::string& text) {
    return decodeTransfer(example::bytesOf(text));
}

// moc stumbles over some raw strings, so JSON is written with single quotes here.
QByteArray quoted(const char* text) {
    return QByteArray(text).replace('\'', '"');
}

Tree treeOf(size_t entries, size_t pathLength) {
    Tree tree{"data", kSha, {}, false};
    for (size_t i = 0; i < entries; ++i) {
        std::string path = std::to_string(i) + "/";
        path.resize(pathLength, 'x');
        tree.entries.push_back({path, kSha, i % 2 == 0});
    }
    return tree;
}

} // namespace

class TestTransfer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyTransferSurvives() {
        std::set<size_t> types;
        for (const Transfer& transfer : example::transfers()) {
            const auto decoded = decodeTransfer(encodeTransfer(transfer));
            RM_OK(decoded);
            QVERIFY(*decoded == transfer);
            types.insert(transfer.index());
        }
        QCOMPARE(types.size(), std::variant_size_v<Transfer>);
    }

    void noTruncationOfJsonIsRead() {
        for (const Transfer& transfer : example::transfers()) {
            const auto payload = encodeTransfer(transfer);
            for (size_t size = 0; size < payload.size(); ++size)
                QVERIFY(std::holds_alternative<Chunk>(transfer) ||
                        !decodeTransfer(std::span(payload).first(size)));
        }
    }

    void noFlippedBitDoesHarm() {
        for (const Transfer& transfer : example::transfers()) {
            const auto payload = encodeTransfer(transfer);
            for (size_t bit = 0; bit < payload.size() * 8; ++bit)
                (void)decodeTransfer(test::withBitFlipped(payload, bit));
        }
    }

    void typesOfTheFutureAreTooNew() {
        RM_FAILS(decodeText("Zsomething"), ErrorCode::kTooNew, "newer release");
        RM_FAILS(decodeText("J{\"type\":\"teleport\"}"), ErrorCode::kTooNew, "newer release");
    }

    void badTransfersAreCorrupt_data() {
        QTest::addColumn<QByteArray>("payload");
        const QByteArray sha(64, 'a');
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("chunk without data") << QByteArray("D");
        QTest::newRow("not JSON") << QByteArray("J{");
        QTest::newRow("not an object") << QByteArray("J[1,2]");
        QTest::newRow("no type") << QByteArray("J{}");
        QTest::newRow("type is a number") << quoted("J{'type':3}");
        QTest::newRow("deep") << "J" + QByteArray(100000, '[');
        QTest::newRow("serve without a key") << quoted("J{'type':'serve','id':'a'}");
        QTest::newRow("serve with half a key") << quoted("J{'type':'serve','id':'a','key':'abc'}");
        QTest::newRow("serve without a name")
            << quoted("J{'type':'serve','id':'','key':'") + sha + quoted("'}");
        QTest::newRow("port 0") << quoted("J{'type':'serving','port':0}");
        QTest::newRow("port 65536") << quoted("J{'type':'serving','port':65536}");
        QTest::newRow("fetch from a number")
            << quoted("J{'type':'fetch','addresses':[1],'port':1,'id':'a','key':'") + sha +
                   quoted("'}");
        QTest::newRow("fetch without addresses")
            << quoted("J{'type':'fetch','port':1,'id':'a','key':'") + sha + quoted("'}");
        QTest::newRow("progress backwards") << quoted("J{'type':'fetching','bytes':-1,'packed':0}");
        QTest::newRow("offer without blobs") << quoted("J{'type':'offer'}");
        QTest::newRow("blobs are no list") << quoted("J{'type':'offer','blobs':{}}");
        QTest::newRow("blob is no object") << quoted("J{'type':'offer','blobs':[1]}");
        QTest::newRow("negative size")
            << quoted("J{'type':'offer','blobs':[{'sha256':'") + sha + quoted("','size':-1}]}");
        QTest::newRow("size of 2^63") << quoted("J{'type':'offer','blobs':[{'sha256':'") + sha +
                                             quoted("','size':9223372036854775808}]}");
        QTest::newRow("fractional size")
            << quoted("J{'type':'offer','blobs':[{'sha256':'") + sha + quoted("','size':1.5}]}");
        QTest::newRow("short hash") << quoted("J{'type':'stored','sha256':'abc'}");
        QTest::newRow("hash of capitals")
            << quoted("J{'type':'stored','sha256':'") + QByteArray(64, 'A') + "\"}";
        QTest::newRow("hash is a path")
            << quoted("J{'type':'stored','sha256':'") + QByteArray("../").repeated(21) + ".\"}";
        QTest::newRow("negative offset")
            << quoted("J{'type':'missing','blobs':[{'sha256':'") + sha + quoted("','offset':-1}]}");
        QTest::newRow("tree of unknown kind")
            << quoted("J{'type':'tree','kind':'..','id':'") + sha + quoted("','entries':[]}");
        QTest::newRow("tree id is a path")
            << quoted("J{'type':'tree','kind':'data','id':'../x','entries':[]}");
        QTest::newRow("relative tree") << quoted("J{'type':'tree-ready','path':'x'}");
        QTest::newRow("place without a run")
            << quoted("J{'type':'checkpoint-place','folder':'','keep_copies':0}");
        QTest::newRow("place for -1 copies")
            << quoted("J{'type':'checkpoint-place','run_id':'r','folder':'','keep_copies':-1}");
        QTest::newRow("checkpoint without a manifest") << quoted("J{'type':'checkpoint-begin'}");
        QTest::newRow("failure code 256") << quoted("J{'type':'failed','code':256,'message':''}");
    }
    void badTransfersAreCorrupt() {
        QFETCH(QByteArray, payload);
        RM_FAILS(decodeText(payload.toStdString()), ErrorCode::kCorrupt, "read transfer");
    }

    void hostilePathsAreCorrupt_data() {
        QTest::addColumn<QByteArray>("path");
        QTest::newRow("empty") << QByteArray();
        QTest::newRow("absolute") << QByteArray("/etc/passwd");
        QTest::newRow("upwards") << QByteArray("../x");
        QTest::newRow("upwards within") << QByteArray("a/../../x");
        QTest::newRow("upwards at the end") << QByteArray("a/..");
        QTest::newRow("dot") << QByteArray("./x");
        QTest::newRow("empty part") << QByteArray("a//b");
        QTest::newRow("trailing slash") << QByteArray("a/");
        QTest::newRow("line break") << QByteArray("a\nb");
        QTest::newRow("NUL") << QByteArray("a\0b", 3);
        QTest::newRow("escape") << QByteArray("a\x1b[2J");
        QTest::newRow("not UTF-8") << QByteArray("a\xff");
        QTest::newRow("overlong UTF-8 slash") << QByteArray("a\xc0\xaf"
                                                            "b");
        QTest::newRow("long part") << QByteArray(256, 'a');
        QTest::newRow("long path") << QByteArray("aaa/").repeated(1024) + "b";
    }
    void hostilePathsAreCorrupt() {
        QFETCH(QByteArray, path);
        QVERIFY(!isTreePath(path.toStdString()));
        const Tree tree{"data", kSha, {{path.toStdString(), kSha, false}}, false};
        const auto decoded = decodeTransfer(encodeTransfer(tree));
        // Bytes that JSON cannot carry come as U+FFFD: another name, never a hostile one.
        QVERIFY(!decoded || isTreePath(std::get<Tree>(*decoded).entries[0].path));
    }

    void usualPathsAreFine() {
        for (const char* path : {"a", "bin/trainer", "lib/lib.so.1", "...", "a/..b", ".hidden",
                                 "data/caf\xc3\xa9 1.txt"})
            QVERIFY2(isTreePath(path), path);
    }

    void treeIdIsOfTheContentAlone() {
        std::vector<TreeEntry> entries = {{"b", kSha, true}, {"a", kSha, false}};
        const std::string id = treeId(entries);
        QCOMPARE(id.size(), size_t(64));
        std::ranges::reverse(entries);
        QCOMPARE(treeId(entries), id);
        entries[0].executable = true;
        QVERIFY(treeId(entries) != id);
        QVERIFY(treeId({}) != id);
    }

    void largeTreeTravelsInPartsThatFitAFrame() {
        const Tree tree = treeOf(3000, 3000);
        std::vector<TreeEntry> joined;
        const auto parts = splitTree(tree);
        for (size_t i = 0; i < parts.size(); ++i) {
            QVERIFY(encodeTransfer(parts[i]).size() < kMaxRecord);
            QCOMPARE(parts[i].more, i + 1 < parts.size());
            joined.insert(joined.end(), parts[i].entries.begin(), parts[i].entries.end());
        }
        QVERIFY(parts.size() > 1);
        QVERIFY(joined == tree.entries);
    }

    void smallTreeStaysWhole() {
        QVERIFY(splitTree(treeOf(3, 10)) == std::vector<Tree>{treeOf(3, 10)});
        QVERIFY(splitTree(treeOf(0, 0)) == std::vector<Tree>{treeOf(0, 0)});
    }

    void longOffersFitFrames() {
        const std::vector<Blob> blobs(kMaxOffer * 2 + 1, Blob{kSha, INT64_MAX});
        const auto offers = splitOffer(blobs);
        QCOMPARE(offers.size(), size_t(3));
        QVERIFY(encodeTransfer(offers[0]).size() < kMaxRecord);
        QCOMPARE(offers[2].blobs.size(), size_t(1));
        QVERIFY(splitOffer({}).empty());
    }
};

QTEST_GUILESS_MAIN(TestTransfer)
#include "tst_transfer.moc"
