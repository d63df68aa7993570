// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/plain_pickle.h"

#include "shared/io/bytes.h"
#include "trainer/train/formats/pickle_stack.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace rm {
namespace {

enum Op : uint8_t {
    kMark = '(',
    kEmptyTuple = ')',
    kStop = '.',
    kBinFloat = 'G',
    kBinInt = 'J',
    kBinInt1 = 'K',
    kBinInt2 = 'M',
    kNone = 'N',
    kPersistentId = 'Q',
    kReduce = 'R',
    kBinString = 'T',
    kShortBinString = 'U',
    kBinUnicode = 'X',
    kEmptyList = ']',
    kAppend = 'a',
    kBuild = 'b',
    kGlobal = 'c',
    kDictOfMark = 'd',
    kAppends = 'e',
    kBinGet = 'h',
    kLongBinGet = 'j',
    kListOfMark = 'l',
    kBinPut = 'q',
    kLongBinPut = 'r',
    kSetItem = 's',
    kTupleOfMark = 't',
    kSetItems = 'u',
    kEmptyDict = '}',
    kProto = 0x80,
    kNewObject = 0x81,
    kTuple1 = 0x85,
    kTuple2 = 0x86,
    kTuple3 = 0x87,
    kTrue = 0x88,
    kFalse = 0x89,
    kLong1 = 0x8a,
};

constexpr uint8_t kProtocol = 2;
constexpr std::string_view kStorageTypes[] = {
    "DoubleStorage", "FloatStorage", "HalfStorage", "BFloat16Storage", "LongStorage",
    "IntStorage",    "ShortStorage", "CharStorage", "ByteStorage",     "BoolStorage"};

PickleKind kindOfGlobal(std::string_view module, std::string_view name) {
    if (module == "collections" && name == "OrderedDict")
        return PickleKind::kOrderedDict;
    if (module == "torch._utils" && (name == "_rebuild_tensor_v2" || name == "_rebuild_parameter"))
        return PickleKind::kTensorFunction;
    if (module == "torch" && std::ranges::find(kStorageTypes, name) != std::end(kStorageTypes))
        return PickleKind::kStorageType;
    return PickleKind::kOther;
}

/// Whether keys and values alternate, with only keys that the Unpickler's dicts accept.
bool areItems(const std::vector<PickleValue>& values) {
    bool keys = values.size() % 2 == 0;
    for (size_t i = 0; i < values.size(); i += 2)
        keys = keys && values[i].canBeKey();
    return keys;
}

class Rewriter {
public:
    explicit Rewriter(std::span<const std::byte> pickle)
        : m_in(reinterpret_cast<const char*>(pickle.data()), pickle.size()) {}

    void run();

    const std::string& mistake() const { return m_stack.mistake(); }
    PlainPickle& out() { return m_out; }

private:
    using Handler = void (Rewriter::*)(uint8_t op);
    using Handlers = std::array<Handler, 256>;
    static Handlers makeHandlers();

    std::string_view take(size_t size);
    std::string_view line();
    template <class T>
    T number() {
        const std::string_view bytes = take(sizeof(T));
        return bytes.empty() ? T{} : loadInt<T>(std::as_bytes(std::span(bytes)));
    }

    void write(uint8_t op) { m_out.bytes.push_back(static_cast<char>(op)); }
    template <class T>
    void write(uint8_t op, T argument) {
        write(op);
        m_out.bytes.append(reinterpret_cast<const char*>(&argument), sizeof argument);
    }

    // by opcode
    template <PickleKind kKind>
    void simple(uint8_t op) {
        write(op);
        m_stack.push(kKind);
    }
    template <class T>
    void numeric(uint8_t op) {
        write(op, number<T>());
        m_stack.push(PickleKind::kNumber);
    }
    template <class Size>
    void text(uint8_t op);
    template <class Name>
    void put(uint8_t op);
    template <class Name>
    void get(uint8_t op);
    void longInteger(uint8_t op);
    void mark(uint8_t op);
    void tuple(uint8_t op);
    void tupleOfMark(uint8_t op);
    void listOfMark(uint8_t op);
    void dictOfMark(uint8_t op);
    void joinTwo(uint8_t op);
    void appends(uint8_t op);
    void setItem(uint8_t op);
    void setItems(uint8_t op);
    void newObject(uint8_t op);
    void reduce(uint8_t op);
    void global(uint8_t op);
    void persistentId(uint8_t op);
    void stop(uint8_t op);

    template <PickleKind kKind>
    void emptyHolder(uint8_t op) {
        write(op);
        m_stack.pushHolder(kKind, {});
    }
    /// Replaces a call by a tuple of its last two or three values.
    void join(uint8_t tupleOp, const std::vector<PickleValue>& parts) {
        write(tupleOp);
        m_stack.pushHolder(PickleKind::kOther, parts);
    }
    /// Pushes the value as one of unknown kind.
    void pushOpaque(PickleValue value) {
        m_stack.push({PickleKind::kOther, {}, std::move(value.holder)});
    }
    void addMany(PickleValue holder, const std::vector<PickleValue>& values, bool plain,
                 uint8_t op);

    std::string_view m_in;
    size_t m_at = 0;
    uint8_t m_lastOp = 0;
    PickleStack m_stack;
    PlainPickle m_out;
};

std::string_view Rewriter::take(size_t size) {
    if (size > m_in.size() - m_at) {
        m_stack.wrong("it is cut off");
        return {};
    }
    m_at += size;
    return m_in.substr(m_at - size, size);
}

std::string_view Rewriter::line() {
    const size_t end = m_in.find('\n', m_at);
    const std::string_view whole = take(end == m_in.npos ? m_in.npos : end + 1 - m_at);
    return whole.substr(0, whole.empty() ? 0 : whole.size() - 1);
}

template <class Size>
void Rewriter::text(uint8_t) {
    const std::string_view content = take(number<Size>());
    write(kBinUnicode, static_cast<uint32_t>(content.size()));
    m_out.bytes += content;
    m_stack.push(PickleKind::kText);
}

template <class Name>
void Rewriter::put(uint8_t) {
    if (const auto number = m_stack.put(this->number<Name>()))
        write(kLongBinPut, *number);
}

template <class Name>
void Rewriter::get(uint8_t) {
    if (const auto number = m_stack.get(this->number<Name>()))
        write(kLongBinGet, *number);
}

// The Unpickler expects eight bytes, Python writes as few as possible. Longer numbers become 0.
void Rewriter::longInteger(uint8_t op) {
    const std::string_view digits = take(number<uint8_t>());
    int64_t value = 0;
    if (!digits.empty() && digits.size() <= sizeof value) {
        value = static_cast<int8_t>(digits.back()) < 0 ? -1 : 0;
        std::ranges::copy(digits, reinterpret_cast<char*>(&value));
    }
    write(op, static_cast<uint8_t>(sizeof value));
    m_out.bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
    m_stack.push(PickleKind::kNumber);
}

void Rewriter::mark(uint8_t op) {
    m_stack.mark();
    write(op);
}

void Rewriter::tuple(uint8_t op) {
    std::vector<PickleValue> parts(op == kEmptyTuple ? 0u : op - kTuple1 + 1u);
    for (auto part = parts.rbegin(); part != parts.rend(); ++part)
        *part = m_stack.popObject();
    m_stack.pushTuple(parts);
    write(op);
}

void Rewriter::tupleOfMark(uint8_t op) {
    m_stack.pushTuple(m_stack.popToMark());
    write(op);
}

void Rewriter::listOfMark(uint8_t op) {
    const auto values = m_stack.popToMark();
    write(op);
    m_stack.pushHolder(PickleKind::kList, values);
}

void Rewriter::dictOfMark(uint8_t op) {
    const auto values = m_stack.popToMark();
    const bool plain = areItems(values);
    write(plain ? op : static_cast<uint8_t>(kTupleOfMark));
    m_stack.pushHolder(plain ? PickleKind::kDict : PickleKind::kOther, values);
}

void Rewriter::joinTwo(uint8_t) {
    const PickleValue second = m_stack.popObject();
    const PickleValue first = m_stack.popObject();
    join(kTuple2, {first, second});
}

void Rewriter::addMany(PickleValue holder, const std::vector<PickleValue>& values, bool plain,
                       uint8_t op) {
    if (plain) {
        write(op);
        m_stack.pushGrown(std::move(holder), values);
        return;
    }
    write(kTupleOfMark);
    m_stack.pushTuple(values);
    join(kTuple2, {holder, m_stack.pop()});
}

void Rewriter::appends(uint8_t op) {
    const auto values = m_stack.popToMark();
    PickleValue list = m_stack.popObject();
    const bool plain = list.kind == PickleKind::kList;
    addMany(std::move(list), values, plain, op);
}

void Rewriter::setItems(uint8_t op) {
    const auto values = m_stack.popToMark();
    PickleValue dict = m_stack.popObject();
    const bool plain = areItems(values) && dict.kind == PickleKind::kDict;
    addMany(std::move(dict), values, plain, op);
}

void Rewriter::setItem(uint8_t op) {
    const PickleValue value = m_stack.popObject();
    const PickleValue key = m_stack.popObject();
    PickleValue dict = m_stack.popObject();
    if (dict.kind != PickleKind::kDict || !key.canBeKey()) {
        join(kTuple3, {dict, key, value});
        return;
    }
    write(op);
    m_stack.pushGrown(std::move(dict), {value});
}

void Rewriter::newObject(uint8_t) {
    const PickleValue arguments = m_stack.popObject();
    const PickleValue function = m_stack.pop();
    if (function.isClass())
        pushOpaque(arguments); // they stand for the object
    else
        join(kTuple2, {function, arguments});
}

void Rewriter::reduce(uint8_t op) {
    const PickleValue arguments = m_stack.popObject();
    const PickleValue function = m_stack.pop();
    if (function.isClass() && m_lastOp == kEmptyTuple) {
        m_out.bytes.back() = static_cast<char>(kEmptyDict);
        m_stack.pushHolder(PickleKind::kDict, {});
    } else if (function.isClass()) {
        pushOpaque(arguments);
    } else if (function.kind == PickleKind::kTensorFunction &&
               arguments.kind == PickleKind::kTuple) {
        simple<PickleKind::kOther>(op);
    } else {
        join(kTuple2, {function, arguments});
    }
}

void Rewriter::global(uint8_t op) {
    const std::string_view module = line();
    const std::string_view name = line();
    const PickleKind kind = kindOfGlobal(module, name);
    if (kind == PickleKind::kOther) {
        m_out.replaced.insert(std::string(module) + "." + std::string(name));
        write(kNone);
    } else if (kind != PickleKind::kOrderedDict) {
        write(op);
        for (const std::string_view part : {module, name})
            (m_out.bytes += part) += '\n';
    }
    m_stack.push(kind);
}

void Rewriter::persistentId(uint8_t op) {
    if (!m_stack.popObject().isStorageId())
        m_stack.wrong("it refers to something that is no storage");
    simple<PickleKind::kOther>(op);
}

void Rewriter::stop(uint8_t op) {
    if (!m_stack.isDone())
        m_stack.wrong("it does not end with exactly one object");
    m_stack.popObject();
    write(op);
}

Rewriter::Handlers Rewriter::makeHandlers() {
    Handlers by{};
    by[kMark] = &Rewriter::mark;
    by[kStop] = &Rewriter::stop;
    by[kNone] = by[kTrue] = by[kFalse] = &Rewriter::simple<PickleKind::kOther>;
    by[kEmptyDict] = &Rewriter::emptyHolder<PickleKind::kDict>;
    by[kEmptyList] = &Rewriter::emptyHolder<PickleKind::kList>;
    by[kBinInt1] = &Rewriter::numeric<uint8_t>;
    by[kBinInt2] = &Rewriter::numeric<uint16_t>;
    by[kBinInt] = &Rewriter::numeric<uint32_t>;
    by[kBinFloat] = &Rewriter::numeric<uint64_t>;
    by[kLong1] = &Rewriter::longInteger;
    by[kShortBinString] = &Rewriter::text<uint8_t>;
    by[kBinString] = by[kBinUnicode] = &Rewriter::text<uint32_t>;
    by[kEmptyTuple] = by[kTuple1] = by[kTuple2] = by[kTuple3] = &Rewriter::tuple;
    by[kTupleOfMark] = &Rewriter::tupleOfMark;
    by[kListOfMark] = &Rewriter::listOfMark;
    by[kDictOfMark] = &Rewriter::dictOfMark;
    by[kAppend] = by[kBuild] = &Rewriter::joinTwo;
    by[kAppends] = &Rewriter::appends;
    by[kSetItem] = &Rewriter::setItem;
    by[kSetItems] = &Rewriter::setItems;
    by[kNewObject] = &Rewriter::newObject;
    by[kReduce] = &Rewriter::reduce;
    by[kGlobal] = &Rewriter::global;
    by[kPersistentId] = &Rewriter::persistentId;
    by[kBinPut] = &Rewriter::put<uint8_t>;
    by[kLongBinPut] = &Rewriter::put<uint32_t>;
    by[kBinGet] = &Rewriter::get<uint8_t>;
    by[kLongBinGet] = &Rewriter::get<uint32_t>;
    return by;
}

void Rewriter::run() {
    static const Handlers handlers = makeHandlers();
    const auto proto = number<uint8_t>();
    const auto protocol = number<uint8_t>();
    if (proto != kProto || protocol != kProtocol)
        m_stack.wrong(
            "it is no pickle of protocol 2, which torch.save() writes unless told not to");
    write(kProto, kProtocol);
    while (mistake().empty() && m_lastOp != kStop) {
        const auto op = number<uint8_t>();
        if (const Handler handler = handlers[op])
            (this->*handler)(op);
        else
            m_stack.wrong("it has the opcode " + std::to_string(op) +
                          ", which weights do not need");
        m_lastOp = op;
    }
    m_out.consumed = m_at;
}

} // namespace

Result<PlainPickle> toPlainPickle(std::span<const std::byte> pickle, const std::string& source) {
    Rewriter rewriter(pickle);
    rewriter.run();
    if (!rewriter.mistake().empty())
        return fail(ErrorCode::kCorrupt,
                    "read the pickle of " + source + ": " + rewriter.mistake());
    return std::move(rewriter.out());
}

} // namespace rm
