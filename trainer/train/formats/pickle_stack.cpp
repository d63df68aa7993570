// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/formats/pickle_stack.h"

#include <algorithm>
#include <iterator>

namespace rm {

bool PickleValue::isStorageId() const {
    constexpr PickleKind kParts[] = {PickleKind::kText, PickleKind::kStorageType, PickleKind::kText,
                                     PickleKind::kText, PickleKind::kNumber};
    const bool ofView = parts.size() > std::size(kParts) && parts.back() == PickleKind::kTuple;
    return kind == PickleKind::kTuple && parts.size() >= std::size(kParts) && !ofView &&
           std::equal(std::begin(kParts), std::end(kParts), parts.begin());
}

void PickleStack::wrong(const std::string& cause) {
    if (m_mistake.empty())
        m_mistake = cause;
}

void PickleStack::pushTuple(const std::vector<PickleValue>& parts) {
    PickleValue tuple{PickleKind::kTuple, {}};
    for (size_t i = 0; i < std::min(parts.size(), PickleValue::kKnownParts); ++i)
        tuple.parts.push_back(parts[i].kind);
    push(std::move(tuple));
}

PickleValue PickleStack::pop() {
    if (m_values.size() <= (m_marks.empty() ? 0 : m_marks.back())) {
        wrong("its stack underflows");
        return {};
    }
    PickleValue value = std::move(m_values.back());
    m_values.pop_back();
    return value;
}

PickleValue PickleStack::popObject() {
    PickleValue value = pop();
    if (value.isClass())
        wrong("it stores a class");
    return value;
}

std::vector<PickleValue> PickleStack::popToMark() {
    if (m_marks.empty()) {
        wrong("a mark is missing");
        return {};
    }
    const auto first = m_values.begin() + static_cast<ptrdiff_t>(m_marks.back());
    std::vector<PickleValue> values(std::make_move_iterator(first),
                                    std::make_move_iterator(m_values.end()));
    m_values.erase(first, m_values.end());
    m_marks.pop_back();
    if (std::any_of(values.begin(), values.end(), [](const auto& v) { return v.isClass(); }))
        wrong("it stores a class");
    return values;
}

std::optional<uint32_t> PickleStack::put(uint32_t name) {
    PickleValue value = pop();
    push(value);
    const bool written = !value.isClass();
    m_memo.insert_or_assign(name, Memo{std::move(value), m_numbers});
    return written ? std::optional(m_numbers++) : std::nullopt;
}

std::optional<uint32_t> PickleStack::get(uint32_t name) {
    const auto found = m_memo.find(name);
    if (found == m_memo.end()) {
        wrong("it refers to a memo that was not set");
        return std::nullopt;
    }
    push(found->second.value);
    return found->second.value.isClass() ? std::nullopt : std::optional(found->second.number);
}

} // namespace rm
