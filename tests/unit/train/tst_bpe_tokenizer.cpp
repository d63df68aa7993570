// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/train/bpe_json.h"
#include "tests/unit/train/data_folder.h"
#include "trainer/train/data/text/bpe_tokenizer.h"
#include "trainer/train/data/text/text_data.h"
#include "trainer/train/workloads/registry.h"

#include <QTest>

#include <functional>

using namespace rm;
using namespace rm::test;
using Json = nlohmann::json;

namespace {

constexpr int32_t kEnd = 260; ///< <|endoftext|> of letters()

/// "ab", "abc", "bc" and " a", in the order in which they are made.
Json letters() {
    return bpeJson({{"b", "c"}, {"a", "b"}, {"ab", "c"}, {"\u0120", "a"}});
}

Json steps(const Json& first, const Json& second) {
    return {{"type", "Sequence"}, {"pretokenizers", Json::array({first, second})}};
}

Json splitBy(const char* pattern, const char* behavior = "Isolated") {
    return {{"type", "Split"},
            {"pattern", {{"Regex", pattern}}},
            {"behavior", behavior},
            {"invert", false}};
}

Json kind(const char* type) {
    return Json::object({{"type", type}});
}

std::vector<int32_t> idsOf(const Json& json, const std::string& text) {
    const auto tokenizer = makeBpeTokenizer(json.dump());
    std::vector<int32_t> ids;
    if (!tokenizer)
        qFatal("%s", tokenizer.error().message.c_str());
    if (const auto done = (*tokenizer)->encode(text, ids); !done)
        qFatal("%s", done.error().message.c_str());
    return ids;
}

std::string errorOf(const Json& json) {
    const auto tokenizer = makeBpeTokenizer(json.dump());
    return tokenizer ? std::string() : tokenizer.error().message;
}

using Ids = std::vector<int32_t>;

struct Unsupported {
    const char* name;
    void (*change)(Json&);
    const char* words;
};
const Unsupported kUnsupported[] = {
    {"kind", [](Json& j) { j["model"]["type"] = "WordPiece"; },
     R"(model.type is "WordPiece"; supported is "BPE")"},
    {"dropout", [](Json& j) { j["model"]["dropout"] = 0.1; }, "model.dropout is 0.1"},
    {"fallback", [](Json& j) { j["model"]["byte_fallback"] = true; },
     "model.byte_fallback is true; supported is false"},
    {"suffix", [](Json& j) { j["model"]["end_of_word_suffix"] = "</w>"; },
     R"(model.end_of_word_suffix is "</w>")"},
    {"unknown",
     [](Json& j) {
         j["model"]["unk_token"] = "<unk>";
         j["model"]["vocab"].erase("x");
     },
     R"(model.unk_token is "<unk>"; supported is null, where)"},
    {"field of the model", [](Json& j) { j["model"]["scores"] = 1; }, "model.scores is 1"},
    {"vocabulary", [](Json& j) { j["model"]["vocab"] = Json::array(); }, "model.vocab is []"},
    {"negative id", [](Json& j) { j["model"]["vocab"]["x"] = -1; }, R"(model.vocab["x"] is -1)"},
    {"huge id", [](Json& j) { j["model"]["vocab"]["x"] = 1 << 30; },
     "a whole number below 1048576"},
    {"id twice", [](Json& j) { j["model"]["vocab"]["x"] = 7; }, "an id of one token only"},
    {"merge of three", [](Json& j) { j["model"]["merges"][1] = "a b c"; },
     R"(model.merges[1] is "a b c")"},
    {"merge into nothing",
     [](Json& j) {
         j["model"]["merges"][1] = Json::array({"x", "y"});
     },
     R"(model.merges[1] is ["x","y"])"},
    {"merges", [](Json& j) { j["model"]["merges"] = "a b"; }, "model.merges is \"a b\""},
    {"normalizer", [](Json& j) { j["normalizer"] = kind("Lowercase"); },
     R"(normalizer is {"type":"Lowercase"}; supported is null or)"},
    {"no pre-tokenizer", [](Json& j) { j["pre_tokenizer"] = nullptr; },
     "pre_tokenizer is null; supported is ByteLevel"},
    {"pre-tokenizer",
     [](Json& j) { j["pre_tokenizer"] = steps(kind("Metaspace"), j["pre_tokenizer"]); },
     R"(pre_tokenizer[0] is {"type":"Metaspace"})"},
    {"something behind the bytes",
     [](Json& j) { j["pre_tokenizer"] = steps(j["pre_tokenizer"], kind("Digits")); },
     R"(pre_tokenizer[1] is {"type":"Digits"})"},
    {"behavior",
     [](Json& j) {
         j["pre_tokenizer"] = steps(splitBy("x", "MergedWithNext"), j["pre_tokenizer"]);
     },
     R"(pre_tokenizer[0].behavior is "MergedWithNext"; supported is "Isolated" or "Removed")"},
    {"pattern", [](Json& j) { j["pre_tokenizer"] = steps(splitBy("(a"), j["pre_tokenizer"]); },
     "the pattern (a: end pattern with unmatched parenthesis"},
    {"post-processor", [](Json& j) { j["post_processor"] = kind("BertProcessing"); },
     R"(post_processor is {"type":"BertProcessing"})"},
    {"decoder", [](Json& j) { j["decoder"] = kind("Metaspace"); },
     R"(decoder is {"type":"Metaspace"}; supported is {"type": "ByteLevel"})"},
    {"truncation",
     [](Json& j) {
         j["truncation"] = Json::object({{"max_length", 9}});
     },
     R"(truncation is {"max_length":9}; supported is null)"},
    {"field", [](Json& j) { j["more"] = 1; }, "its content.more is 1"},
    {"white space beside a token", [](Json& j) { j["added_tokens"][0]["lstrip"] = true; },
     "added_tokens[0].lstrip is true; supported is false"},
    {"id of an added token", [](Json& j) { j["added_tokens"][0]["id"] = 300; },
     "added_tokens[0].id is 300; supported is 260 for <|endoftext|>"},
    {"added token twice", [](Json& j) { j["added_tokens"].push_back(j["added_tokens"][0]); },
     "added_tokens[1].content is \"<|endoftext|>\""},
    {"long added token", [](Json& j) { j["added_tokens"][0]["content"] = std::string(257, 'x'); },
     "1 to 256 bytes"},
    {"long value", [](Json& j) { j["decoder"] = std::string(5000, 'x'); }, "xxx (cut); supported"},
};

} // namespace

class TestBpeTokenizer : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void theFirstMergeOfTheFileIsMadeFirst() {
        QCOMPARE(idsOf(letters(), "abc"), (Ids{'a', 256}));
        QCOMPARE(idsOf(bpeJson({{"a", "b"}, {"b", "c"}}), "abc"), (Ids{256, 'c'}));
    }

    void theLeftmostOfEqualMergesIsMadeFirst() {
        QCOMPARE(idsOf(bpeJson({{"a", "a"}}), "aaaaa"), (Ids{256, 256, 'a'}));
    }

    void pairsMayBeListsAndTheSecondOfTwoCounts() {
        Json json = bpeJson({{"a", "b"}, {"b", "c"}});
        const Json first = Json::array({"a", "b"});
        json["model"]["merges"] = Json::array({first, Json::array({"b", "c"}), first});
        QCOMPARE(idsOf(json, "abc"), (Ids{'a', 257}));
    }

    void noMergeCrossesAWord() {
        QCOMPARE(idsOf(letters(), "ab a"), (Ids{257, 259}));
        QCOMPARE(idsOf(bpeJson({{"a", "1"}}), "a1"), (Ids{'a', '1'}));
    }

    void aWholeWordNeedsNoMergesWhereTheFileSaysSo() {
        Json json = letters();
        QCOMPARE(idsOf(json, "abc"), (Ids{'a', 256}));
        json["model"]["ignore_merges"] = true;
        QCOMPARE(idsOf(json, "abc"), (Ids{258}));
    }

    void addedTokensAreFoundBeforeWords() {
        QCOMPARE(idsOf(letters(), "a<|endoftext|>bc"), (Ids{'a', kEnd, 256}));
    }

    void theLongestAddedTokenIsTaken() {
        Json json = letters();
        Json token = json["added_tokens"][0];
        for (const char* content : {"<|end", "<|endof", "text|>"}) {
            token["id"] = kEnd + static_cast<int>(json["added_tokens"].size());
            token["content"] = content;
            json["added_tokens"].push_back(token);
        }
        QCOMPARE(idsOf(json, "<|endoftext|>"), (Ids{kEnd}));
        QCOMPARE(idsOf(json, "<|endoftext|"), (Ids{kEnd + 2, 't', 'e', 'x', 't', '|'}));
    }

    void aByteWithoutATokenIsLeftOut() {
        Json json = letters();
        json["model"]["vocab"].erase("x");
        json["added_tokens"][0]["id"] = 260;
        json["model"]["vocab"]["more"] = static_cast<int>('x');
        QCOMPARE(idsOf(json, "axb"), (Ids{257}));
    }

    void textIsComposedWhereTheFileSaysSo() {
        Json json = letters();
        QCOMPARE(idsOf(json, "e\u0301").size(), size_t{3});
        json["normalizer"] = kind("NFC");
        QCOMPARE(idsOf(json, "e\u0301"), (Ids{0xc3, 0xa9}));
    }

    void bytesThatAreNoTextBecomeTheReplacementCharacter() {
        QCOMPARE(idsOf(letters(), "a\xff"
                                  "b"),
                 (Ids{'a', 0xef, 0xbf, 0xbd, 'b'}));
    }

    void everyTextComesBack() {
        const auto tokenizer = makeBpeTokenizer(letters().dump());
        QVERIFY(tokenizer);
        QCOMPARE((*tokenizer)->vocabSize(), int64_t{kEnd + 1});
        for (const std::string& text :
             {std::string(), std::string("abc ab\r\n\t <|endoftext|>\u00e9\u6f22 \U0001f642"),
              std::string("\0x", 2), std::string(100'000, 'a')}) {
            Ids ids;
            QVERIFY((*tokenizer)->encode(text, ids));
            QCOMPARE((*tokenizer)->decode(ids), text);
        }
        QCOMPARE((*tokenizer)->decode({-1, 5000, 'a'}), std::string("a"));
    }

    // Quadratic ways of merging or searching take minutes here.
    void longWordsAndSpacesAreNoBurden() {
        const std::string word(1 << 20, 'a');
        QCOMPARE(idsOf(bpeJson({{"a", "a"}, {"aa", "aa"}}), word).size(), size_t{1 << 18});
        const std::string spaces(1 << 20, ' ');
        QCOMPARE(idsOf(letters(), spaces + "a").size(), size_t{1 << 20});
    }

    void aPatternThatGoesBackTooOftenIsAnError() {
        Json json = letters();
        json["pre_tokenizer"] = steps(splitBy("(a|aa)+c"), json["pre_tokenizer"]);
        const auto tokenizer = makeBpeTokenizer(json.dump());
        QVERIFY(tokenizer);
        Ids ids;
        const auto done = (*tokenizer)->encode(std::string(200, 'a') + "!c", ids);
        QVERIFY(!done);
        QVERIFY2(done.error().message.find("retry-limit") != std::string::npos,
                 done.error().message.c_str());
    }

    void whatIsNotSupportedIsNamed_data() {
        QTest::addColumn<int>("row");
        for (int row = 0; row < int(std::size(kUnsupported)); ++row)
            QTest::newRow(kUnsupported[row].name) << row;
    }
    void whatIsNotSupportedIsNamed() {
        QFETCH(int, row);
        Json json = letters();
        kUnsupported[row].change(json);
        const std::string message = errorOf(json);
        QVERIFY2(message.find(kUnsupported[row].words) != std::string::npos, message.c_str());
        QVERIFY2(message.starts_with("read tokenizer.json: "), message.c_str());
        QVERIFY(message.find('\n') == std::string::npos);
    }

    void whatIsNoJsonIsRefused() {
        for (const char* text : {"", "{", "[]", "7", "null", R"({"model": 7})"})
            QVERIFY2(!makeBpeTokenizer(text), text);
    }

    void itsFilesCarryItUnchanged() {
        const std::string json = letters().dump(3) + "\n\n";
        const auto tokenizer = makeBpeTokenizer(json);
        QVERIFY(tokenizer);
        QCOMPARE((*tokenizer)->serialized(), json);
        QCOMPARE((*tokenizer)->files()[0].first, std::string("tokenizer.json"));
        QCOMPARE((*tokenizer)->files()[0].second, json);
    }

    void textsBecomeItsTokens() {
        const Folder folder;
        RunSpec spec;
        spec.model.context = 4;
        spec.data.train = {folder.write("a.txt", QByteArray("abc ab<|endoftext|>\n").repeated(9))};
        spec.data.validationShare = 0;
        spec.data.tokenizer = "tokenizer.json";
        const std::string file =
            folder.write("tokenizer.json", QByteArray::fromStdString(letters().dump()));
        World world;
        for (const std::string& path : {file, folder.path()}) {
            spec.data.tokenizerFile = path;
            const auto data = prepareTextData(spec, folder.path("cache"), world, "");
            QVERIFY2(data, data ? "" : data.error().message.c_str());
            QCOMPARE(data->vocabSize, int64_t{kEnd + 1});
            QCOMPARE(readAll(data->train).at(4), int64_t{kEnd});
        }
        spec.data.tokenizerFile = folder.path("none.json");
        const auto none = prepareTextData(spec, folder.path("cache"), world, "");
        QVERIFY(!none);
        QVERIFY2(none.error().message.find("data.tokenizer_file") != std::string::npos,
                 none.error().message.c_str());
    }

    void theEstimateKnowsItsSize() {
        const Folder folder;
        RunSpec spec;
        spec.data.tokenizer = "tokenizer.json";
        spec.data.tokenizerFile =
            folder.write("start/tokenizer.json", QByteArray::fromStdString(letters().dump()));
        QVERIFY(workloadOf(spec).dataSizes(spec));
        QCOMPARE(workloadOf(spec).dataSizes(spec)->vocab, int64_t{kEnd + 1});
        spec.data.tokenizerFile = {};
        spec.model.startFrom = folder.path("start");
        QVERIFY(workloadOf(spec).dataSizes(spec));
        QCOMPARE(workloadOf(spec).dataSizes(spec)->vocab, int64_t{kEnd + 1});
        folder.write("start/config.json", R"({"vocab_size": 320})"); // padded
        QCOMPARE(workloadOf(spec).dataSizes(spec)->vocab, int64_t{320});
        spec.model.startFrom = folder.path("nowhere");
        QVERIFY(!workloadOf(spec).dataSizes(spec));
    }

    void shardsOfItsTokensKnowIt() {
        const Folder folder;
        RunSpec spec;
        spec.model.context = 4;
        spec.data.train = {shard(folder, "x.rmtok", Ids(50, kEnd), kEnd + 1)};
        spec.data.tokenizer = "tokenizer.json";
        spec.data.tokenizerFile =
            folder.write("t.json", QByteArray::fromStdString(letters().dump()));
        World world;
        const auto data = prepareTextData(spec, folder.path("cache"), world, "");
        QVERIFY2(data, data ? "" : data.error().message.c_str());
        QVERIFY(data->tokenizer);
        spec.data.train = {shard(folder, "y.rmtok", Ids(50, 3), 77)};
        const auto other = prepareTextData(spec, folder.path("cache"), world, "");
        QVERIFY(!other);
        QVERIFY(other.error().message.find("a vocabulary of 77 tokens") != std::string::npos);
    }
};

QTEST_GUILESS_MAIN(TestBpeTokenizer)
#include "tst_bpe_tokenizer.moc"
