// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The kinds of values on a pickle's stack that have to be told apart.
enum class PickleKind {
    kOther,
    kText,
    kNumber,
    kTuple,
    kDict,
    kList,
    kOrderedDict,    ///< the class itself, which is not written
    kTensorFunction, ///< an index into the Unpickler's functions
    kStorageType,
};

/// A tuple, list or dict, however many values on the stack and in the memo refer to it.
struct PickleHolder {
    int depth = 1; ///< holders in holders, with itself
    bool isHeld = false;
};

struct PickleValue {
    static constexpr size_t kKnownParts = 6;

    PickleKind kind = PickleKind::kOther;
    std::vector<PickleKind> parts = {};             ///< of a tuple, the first kKnownParts
    std::shared_ptr<PickleHolder> holder = nullptr; ///< none: it holds nothing

    bool isClass() const { return kind == PickleKind::kOrderedDict; }
    bool canBeKey() const { return kind == PickleKind::kText || kind == PickleKind::kNumber; }
    /// ("storage", type, key, location, count, ...): the only persistent ids that torch writes.
    bool isStorageId() const;
};

/// The stack, marks and memo of a pickle that is interpreted by kinds only, without running it.
/// After the first mistake, which is kept, all calls return empty values.
class PickleStack {
public:
    void push(PickleKind kind) { m_values.push_back({kind}); }
    void push(PickleValue value) { m_values.push_back(std::move(value)); }
    void pushTuple(const std::vector<PickleValue>& parts);
    /// Pushes a new holder of `parts`.
    void pushHolder(PickleKind kind, const std::vector<PickleValue>& parts);
    /// Puts `parts` into `holder` and pushes it. A mistake if it would hold itself or get deeper
    /// while another value holds it; in pickles of Python only cycles do so.
    void pushGrown(PickleValue holder, const std::vector<PickleValue>& parts);
    PickleValue pop();       ///< not from below a mark
    PickleValue popObject(); ///< a class is a mistake

    void mark() { m_marks.push_back(m_values.size()); }
    std::vector<PickleValue> popToMark();

    /// Whether exactly one object is left.
    bool isDone() const { return m_values.size() == 1 && m_marks.empty(); }

    /// Memoizes the top of the stack. Returns its memo number in the output; nullopt if it is not
    /// written.
    std::optional<uint32_t> put(uint32_t name);
    /// Pushes a memoized value; returns as put().
    std::optional<uint32_t> get(uint32_t name);

    void wrong(const std::string& cause);
    const std::string& mistake() const { return m_mistake; } ///< empty: none

private:
    struct Memo {
        PickleValue value;
        uint32_t number = 0;
    };

    void hold(PickleHolder& holder, const std::vector<PickleValue>& parts);

    std::vector<PickleValue> m_values;
    std::vector<size_t> m_marks;
    std::map<uint32_t, Memo> m_memo;
    uint32_t m_numbers = 0;
    std::string m_mistake;
};

} // namespace rm
