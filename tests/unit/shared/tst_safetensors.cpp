// SPDX-License-Identifier: Apache-2.0
#include "shared/checkpoint/safetensors.h"
#include "shared/io/bytes.h"
#include "shared/io/file.h"
#include "tests/unit/shared/examples.h"
#include "tests/unit/shared/shared_test.h"

#include <QDir>
#include <QTemporaryDir>

#include <array>

using namespace rm;

namespace {

std::vector<std::byte> fileOf(const std::string& header, size_t dataBytes) {
    std::vector<std::byte> file;
    appendInt(file, uint64_t(header.size()));
    const auto text = example::bytesOf(header);
    file.insert(file.end(), text.begin(), text.end());
    file.resize(file.size() + dataBytes);
    return file;
}

// moc stumbles over some raw strings, so JSON is written with single quotes here.
std::string quoted(std::string text) {
    std::ranges::replace(text, '\'', '"');
    return text;
}

std::string tensor(const char* name, const char* dtype, const char* shape, const char* offsets) {
    return "\"" + std::string(name) + quoted("':{'dtype':'") + dtype + quoted("','shape':") +
           shape + quoted(",'data_offsets':") + offsets + "}";
}

std::string object(const std::string& members) {
    return "{" + members + "}";
}

} // namespace

class TestSafetensors : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void init() {
        m_folder = std::make_unique<QTemporaryDir>();
        m_path = m_folder->filePath("model.safetensors").toStdString();
    }

    void tensorsSurviveInOrder() {
        const std::array<float, 6> numbers = {1, 2, 3, 4, 5, 6};
        const std::array<uint8_t, 3> small = {7, 8, 9};
        const std::vector<TensorView> tensors = {
            {"z.weight", "F32", {2, 3}, std::as_bytes(std::span(numbers))},
            {"a.bias", "U8", {3}, std::as_bytes(std::span(small))},
            {"empty", "BF16", {4, 0}, {}},
            {"scalar", "F32", {}, std::as_bytes(std::span(numbers).first(1))},
        };
        const TensorMetadata metadata{{"format", "pt"}, {"é", "\"quoted\"\n"}};
        RM_OK(writeSafetensors(m_path, tensors, metadata));
        QCOMPARE(sha256OfSafetensors(tensors, metadata), *sha256HexOfFile(m_path));
        const auto file = SafetensorsFile::open(m_path);
        RM_OK(file);
        QCOMPARE(file->tensors().size(), tensors.size());
        for (size_t i = 0; i < tensors.size(); ++i) {
            const TensorView& read = file->tensors()[i];
            QCOMPARE(read.name, tensors[i].name);
            QCOMPARE(read.dtype, tensors[i].dtype);
            QCOMPARE(read.shape, tensors[i].shape);
            QVERIFY(std::ranges::equal(read.data, tensors[i].data));
        }
        QCOMPARE(file->metadata().at("format"), std::string("pt"));
        QCOMPARE(file->metadata().at("é"), std::string("\"quoted\"\n"));
        QCOMPARE(file->find("a.bias"), &file->tensors()[1]);
        QCOMPARE(file->find("nothing"), nullptr);
    }

    void dataBeginsAtAMultipleOfEight() {
        for (const char* name : {"a", "ab", "abc", "abcd", "abcde", "abcdef", "abcdefg"}) {
            RM_OK(writeSafetensors(m_path, {{name, "U8", {0}, {}}}, {}));
            QCOMPARE(test::readBytes(m_path).size() % 8, size_t(0));
        }
    }

    void noTensorsIsAFileToo() {
        RM_OK(writeSafetensors(m_path, {}, {}));
        QVERIFY(SafetensorsFile::open(m_path)->tensors().empty());
    }

    void impossibleTensorsAreNotWritten_data() {
        QTest::addColumn<int>("row");
        const char* names[] = {"empty name", "metadata's name",   "name twice", "short data",
                               "long data",  "unknown dtype",     "overflow",   "negative size",
                               "no data",    "overflow past zero"};
        for (int row = 0; row < 10; ++row)
            QTest::newRow(names[row]) << row;
    }
    void impossibleTensorsAreNotWritten() {
        QFETCH(int, row);
        const std::array<std::byte, 8> data{};
        const TensorView good{"a", "F32", {2}, data};
        const std::vector<std::vector<TensorView>> lists = {
            {{"", "F32", {2}, data}},
            {{"__metadata__", "F32", {2}, data}},
            {good, good},
            {{"a", "F32", {3}, data}},
            {{"a", "F32", {1}, data}},
            {{"a", "F33", {2}, data}},
            {{"a", "F32", {int64_t(1) << 62, 8}, {}}},
            {{"a", "F32", {-2, -1}, data}},
            {{"a", "F32", {2}, {}}},
            {{"a", "F64", {int64_t(1) << 61, 1}, {}}},
        };
        RM_FAILS(writeSafetensors(m_path, lists[size_t(row)], {}), ErrorCode::kInvalid, m_path);
        QVERIFY(QDir(m_folder->path()).isEmpty());
    }

    void everyTruncationIsCorrupt() {
        const auto file = example::safetensorsFile();
        RM_OK(parseSafetensors(file, "x"));
        for (size_t size = 0; size < file.size(); ++size)
            RM_FAILS(parseSafetensors(std::span(file).first(size), "x.safetensors"),
                     ErrorCode::kCorrupt, "read x.safetensors: ");
    }

    void noFlippedBitOfTheHeaderDoesHarm() {
        const auto file = example::safetensorsFile();
        for (size_t bit = 0; bit < (file.size() - 11) * 8; ++bit) {
            const auto flipped = test::withBitFlipped(file, bit);
            const auto parsed = parseSafetensors(flipped, "x");
            if (!parsed)
                continue;
            for (const TensorView& view : parsed->first)
                QVERIFY(view.data.empty() ||
                        (view.data.data() >= flipped.data() &&
                         view.data.data() + view.data.size() <= flipped.data() + flipped.size()));
        }
    }

    void hostileLengthsAreCorrupt_data() {
        QTest::addColumn<quint64>("length");
        QTest::newRow("2^63") << (quint64(1) << 63);
        QTest::newRow("2^64 - 1") << ~quint64(0);
        QTest::newRow("2^64 - 8") << ~quint64(7);
        QTest::newRow("over the limit") << quint64(100'000'001);
        QTest::newRow("one more than there is") << quint64(3);
        QTest::newRow("nothing") << quint64(0);
    }
    void hostileLengthsAreCorrupt() {
        QFETCH(quint64, length);
        std::vector<std::byte> file;
        appendInt(file, uint64_t(length));
        file.push_back(std::byte{'{'});
        file.push_back(std::byte{'}'});
        RM_FAILS(parseSafetensors(file, "x"), ErrorCode::kCorrupt, "x: ");
    }

    void hostileHeadersAreCorrupt_data() {
        QTest::addColumn<QString>("header");
        QTest::addColumn<int>("bytes");
        QTest::addColumn<QString>("words");
        const auto row = [](const char* name, const std::string& header, int bytes,
                            const char* words) {
            QTest::newRow(name) << QString::fromStdString(header) << bytes << words;
        };
        row("overlap",
            object(tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("b", "U8", "[4]", "[3,7]")), 7,
            "tensor \"b\" overlaps");
        row("same place",
            object(tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("b", "U8", "[4]", "[0,4]")), 4,
            "overlaps");
        row("gap",
            object(tensor("a", "U8", "[4]", "[0,4]") + "," + tensor("b", "U8", "[4]", "[5,9]")), 9,
            "tensor \"b\" leaves a gap");
        row("gap at the front", object(tensor("a", "U8", "[4]", "[1,5]")), 5, "gap");
        row("bytes behind", object(tensor("a", "U8", "[4]", "[0,4]")), 5, "behind the last");
        row("outside", object(tensor("a", "U8", "[4]", "[0,4]")), 3, "outside");
        row("backwards", object(tensor("a", "U8", "[4]", "[4,0]")), 4, "outside");
        row("2^64 offsets",
            object(tensor("a", "U8", "[1]", "[18446744073709551615,18446744073709551615]")), 1,
            "outside");
        row("beyond 2^64", object(tensor("a", "U8", "[1]", "[0,18446744073709551616]")), 1,
            "fraction");
        row("shape too large", object(tensor("a", "U8", "[5]", "[0,4]")), 4, "shape");
        row("dimensions overflow to fit",
            object(tensor("a", "F32", "[4611686018427387904,4]", "[0,0]")), 0, "shape");
        row("dimensions overflow to 1",
            object(tensor("a", "U8", "[4294967297,4294967297]", "[0,1]")), 1, "shape");
        row("dimension of 2^63", object(tensor("a", "U8", "[9223372036854775808]", "[0,1]")), 1,
            "number 9223372036854775808");
        row("negative dimension", object(tensor("a", "U8", "[-1]", "[0,1]")), 1, "negative");
        row("fractional dimension", object(tensor("a", "U8", "[1.0]", "[0,1]")), 1, "fraction");
        row("one offset", object(tensor("a", "U8", "[1]", "[0]")), 1, "two numbers");
        row("three offsets", object(tensor("a", "U8", "[1]", "[0,1,2]")), 1, "number 2");
        row("unknown dtype", object(tensor("a", "X8", "[1]", "[0,1]")), 1, "unknown dtype \"X8\"");
        row("no dtype", quoted("{'a':{'shape':[1],'data_offsets':[0,1]}}"), 1, "other members");
        row("further member",
            quoted("{'a':{'dtype':'U8','shape':[1],'data_offsets':[0,1],'more':[1]}}"), 1,
            "an array");
        row("member twice",
            quoted("{'a':{'dtype':'U8','dtype':'U8','shape':[1],'data_offsets':[0,1]}}"), 1,
            "twice");
        row("name twice",
            object(tensor("a", "U8", "[1]", "[0,1]") + "," + tensor("a", "U8", "[1]", "[1,2]")), 2,
            "the name \"a\" twice");
        row("empty name", object(tensor("", "U8", "[1]", "[0,1]")), 1, "no name");
        row("not an object", "[]", 0, "an array");
        row("number", "3", 0, "number 3");
        row("text", "\"x\"", 0, "a text");
        row("tensor is a number", quoted("{'a':1}"), 0, "number 1");
        row("tensor is null", quoted("{'a':null}"), 0, "null");
        row("deep", quoted("{'a':{'shape':") + std::string(100000, '['), 0, "an array");
        row("metadata of numbers", quoted("{'__metadata__':{'a':1}}"), 0, "number 1");
        row("metadata nested", quoted("{'__metadata__':{'a':{}}}"), 0, "an object");
        row("metadata twice", quoted("{'__metadata__':{},'__metadata__':{}}"), 0, "twice");
        row("metadata key twice", quoted("{'__metadata__':{'a':'b','a':'c'}}"), 0, "twice");
        row("cut off", quoted("{'a':{'dtype':'U8'"), 0, "not JSON");
        row("text behind", "{}x", 0, "not JSON");
    }
    void hostileHeadersAreCorrupt() {
        QFETCH(QString, header);
        QFETCH(int, bytes);
        QFETCH(QString, words);
        const auto parsed =
            parseSafetensors(fileOf(header.toStdString(), size_t(bytes)), "x.safetensors");
        RM_FAILS(parsed, ErrorCode::kCorrupt, words.toStdString());
    }

    void headerMayEndInSpaces() { RM_OK(parseSafetensors(fileOf("{}     ", 0), "x")); }

    void manyDimensionsAreJustManyNumbers() {
        std::string shape = "[1";
        for (int i = 0; i < 100000; ++i)
            shape += ",1";
        const auto file = fileOf(object(tensor("a", "U8", (shape + "]").c_str(), "[0,1]")), 1);
        RM_OK(parseSafetensors(file, "x"));
    }

    void openNamesTheFile() {
        RM_FAILS(SafetensorsFile::open(m_path), ErrorCode::kNotFound, m_path);
        test::writeBytes(m_path, {});
        RM_FAILS(SafetensorsFile::open(m_path), ErrorCode::kCorrupt, m_path);
        RM_FAILS(SafetensorsFile::open("/dev/null"), ErrorCode::kCorrupt, "/dev/null");
        RM_FAILS(SafetensorsFile::open(m_folder->path().toStdString()), ErrorCode::kCorrupt,
                 "not a safetensors file");
    }

    void everyDtypeHasItsSize() {
        const std::pair<const char*, size_t> sizes[] = {
            {"F64", 8}, {"I64", 8}, {"F32", 4},  {"I32", 4}, {"BF16", 2},
            {"F16", 2}, {"U8", 1},  {"BOOL", 1}, {"f32", 0}, {"", 0}};
        for (const auto& [dtype, size] : sizes)
            QCOMPARE(safetensorsItemSize(dtype), size);
    }

private:
    std::unique_ptr<QTemporaryDir> m_folder;
    std::string m_path;
};

QTEST_GUILESS_MAIN(TestSafetensors)
#include "tst_safetensors.moc"
