// SPDX-License-Identifier: Apache-2.0
#include "shared/io/json_fields.h"
#include "tests/unit/shared/shared_test.h"

#include <array>

using namespace rm;

namespace {

enum class Colour : uint8_t { kRed, kGreen };
enum class Level : uint8_t { kLow = 3, kHigh = 7 };

const char* jsonWord(Colour colour) {
    constexpr std::array kWords = {"red", "green"};
    const auto at = static_cast<size_t>(colour);
    return at < kWords.size() ? kWords[at] : nullptr;
}

struct Part {
    std::string name;
    int64_t size = 0;
    bool operator==(const Part&) const = default;
};

template <Either<Part> T, class Visit>
void fields(T& part, Visit&& visit) {
    visit("name", part.name, fitting([](std::string_view name) { return name != "bad"; }));
    visit("size", part.size, atLeast(0));
}

struct Whole {
    static constexpr const char* kType = "whole";
    int32_t count = 1;
    bool isOn = false;
    double ratio = 0;
    double figure = 0;
    Colour colour = Colour::kRed;
    Level level = Level::kLow;
    std::string words, note;
    std::optional<Part> extra;
    std::vector<Part> parts;
    std::vector<int64_t> numbers;
    int64_t first = 0, last = 0;
    bool operator==(const Whole&) const = default;
};

template <Either<Whole> T, class Visit>
void fields(T& whole, Visit&& visit) {
    visit("count", whole.count, within(1, 9));
    visit("on", whole.isOn);
    visit("ratio", whole.ratio, within(0, 1));
    visit("figure", whole.figure, kMaybeUnknown);
    visit("colour", whole.colour);
    visit("level", whole.level, within(3, 7));
    visit("words", whole.words, cutAt(8));
    visit("note", whole.note, upTo(4).unlessEmpty());
    visit("extra", whole.extra);
    visit("parts", whole.parts, upTo(3));
    visit("numbers", whole.numbers, within(-1, 5).optional());
    visit("range", Both{whole.first, whole.last}, atLeast(0));
}

struct Other {
    static constexpr const char* kType = "other";
    bool operator==(const Other&) const = default;
};

template <Either<Other> T, class Visit>
void fields(T&, Visit&&) {}

struct Untold {}; // such as raw bytes, which are no JSON

using Message = std::variant<Whole, Untold, Other>;

Whole example() {
    return {.count = 9,
            .isOn = true,
            .ratio = 0.5,
            .figure = -1e300,
            .colour = Colour::kGreen,
            .level = Level::kHigh,
            .words = "eight by",
            .note = "four",
            .extra = Part{"p", 1},
            .parts = {{"a", 0}, {"b", INT64_MAX}},
            .numbers = {-1, 5},
            .first = 1,
            .last = 2};
}

/// The example with another value of a key.
Json with(const char* key, const Json& value) {
    Json json = writeFields(example());
    json[key] = value;
    return json;
}

Json without(const char* key) {
    Json json = writeFields(example());
    json.erase(key);
    return json;
}

} // namespace

Q_DECLARE_METATYPE(Json)

class TestJsonFields : public QObject {
    Q_OBJECT
private Q_SLOTS:
    void everyKindOfMemberSurvives() {
        RM_OK(fromJson<Whole>(writeFields(example()), "x"));
        QVERIFY(*fromJson<Whole>(writeFields(example()), "x") == example());
        QVERIFY(*fromJson<Whole>(writeFields(Whole()), "x") == Whole());
    }

    void whatIsEmptyAndMayBeMissingIsNotWritten() {
        const Json json = writeFields(Whole());
        QVERIFY(!json.contains("note") && !json.contains("extra"));
        QVERIFY(json.contains("words") && json.contains("parts"));
    }

    void aFigureThatIsNotFiniteIsNull() {
        Whole whole = example();
        whole.figure = std::numeric_limits<double>::infinity();
        const Json json = writeFields(whole);
        QVERIFY(json.at("figure").is_null());
        QVERIFY(std::isnan(fromJson<Whole>(json, "x")->figure));
    }

    void aLongTextIsCut() {
        Whole whole = example();
        whole.words = "eight bytes";
        QCOMPARE(fromJson<Whole>(writeFields(whole), "x")->words, std::string("eight by"));
    }

    void keysOfALaterReleaseAreSkipped() { RM_OK(fromJson<Whole>(with("later", {1, 2}), "x")); }

    void theKeyAtFaultIsNamed_data() {
        QTest::addColumn<Json>("json");
        QTest::addColumn<QByteArray>("key");
        const auto row = [](const char* name, const Json& json, const char* key) {
            QTest::newRow(name) << json << QByteArray(key);
        };
        row("missing", without("on"), "on");
        row("a list of two is missing", without("range"), "range");
        row("too small", with("count", 0), "count");
        row("too large", with("count", 10), "count");
        row("larger than its type", with("count", int64_t{1} << 40), "count");
        row("2^63", with("count", uint64_t{1} << 63), "count");
        row("fraction", with("count", 1.5), "count");
        row("number for a flag", with("on", 1), "on");
        row("ratio above 1", with("ratio", 1.01), "ratio");
        row("no ratio", with("ratio", nullptr), "ratio");
        row("ratio is a text", with("ratio", "0.5"), "ratio");
        row("unknown word", with("colour", "blue"), "colour");
        row("number for a word", with("colour", 1), "colour");
        row("unknown number", with("level", 8), "level");
        row("text is a number", with("words", 5), "words");
        row("too long", with("note", "fives"), "note");
        row("no object", with("extra", 1), "extra");
        row("of an object", with("extra", {{"name", "a"}, {"size", -1}}), "extra.size");
        row("list is an object", with("parts", Json::object()), "parts");
        row("of an item", with("parts", {{{"name", "a"}, {"size", 1}}, {{"name", "b"}}}),
            "parts[1].size");
        row("text that does not fit", with("parts", {{{"name", "bad"}, {"size", 1}}}),
            "parts[0].name");
        row("item is a number", with("parts", {7}), "parts[0]");
        row("too many", with("parts", Json(4, {{"name", "a"}, {"size", 1}})), "parts");
        row("number in a list", with("numbers", {0, 6}), "numbers[1]");
        row("one of two", with("range", {1}), "range");
        row("second of two", with("range", {1, -1}), "range");
    }
    void theKeyAtFaultIsNamed() {
        QFETCH(Json, json);
        QFETCH(QByteArray, key);
        RM_FAILS(fromJson<Whole>(json, "x"), ErrorCode::kCorrupt,
                 "read x: \"" + key.toStdString() + "\" is missing or makes no sense");
    }

    void whatIsNoObjectIsCorrupt() {
        RM_FAILS(fromJson<Whole>(Json::array({1}), "x"), ErrorCode::kCorrupt, "no JSON object");
        RM_FAILS(parseFields<Whole>("{", "x"), ErrorCode::kCorrupt, "read x");
    }

    void aMessageIsFoundByItsType() {
        for (const Message& message : {Message(example()), Message(Other())}) {
            const Json json = std::visit(
                [](const auto& each) {
                    if constexpr (requires { each.kType; })
                        return writeMessage(each);
                    else
                        return Json();
                },
                message);
            const auto again = messageFrom<Message>(json, "x");
            RM_OK(again);
            QCOMPARE(again->index(), message.index());
            if (const auto* whole = std::get_if<Whole>(&message))
                QVERIFY(std::get<Whole>(*again) == *whole);
        }
    }

    void aMessageOfAnotherTypeIsTooNew() {
        RM_FAILS(messageFrom<Message>({{"type", "teleport"}}, "x"), ErrorCode::kTooNew,
                 "\"teleport\" is of a newer release");
        RM_FAILS(messageFrom<Message>(Json::object(), "x"), ErrorCode::kCorrupt, "no type");
        RM_FAILS(messageFrom<Message>(Json::array({1}), "x"), ErrorCode::kCorrupt, "no type");
        RM_FAILS(messageFrom<Message>({{"type", "whole"}}, "x"), ErrorCode::kCorrupt, "count");
    }
};

QTEST_GUILESS_MAIN(TestJsonFields)
#include "tst_json_fields.moc"
