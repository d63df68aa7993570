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

// Limits the depth, as code that walks over the value, or destroys it, may be recursive.
void PickleStack::hold(PickleHolder& holder, const std::vector<PickleValue>& parts) {
    constexpr int kMostDeep = 200;
    int depth = holder.depth;
    for (const PickleValue& part : parts)
        if (part.holder) {
            part.holder->isHeld = true;
            depth = std::max(depth, part.holder->depth + 1);
        }
    if (depth > kMostDeep)
        wrong("its objects are nested more than " + std::to_string(kMostDeep) + " deep");
    else if (depth > holder.depth && holder.isHeld)
        wrong("an object holds itself, or grows after another has it");
    holder.depth = depth;
}

void PickleStack::pushHolder(PickleKind kind, const std::vector<PickleValue>& parts) {
    PickleValue value{kind, {}, std::make_shared<PickleHolder>()};
    hold(*value.holder, parts);
    push(std::move(value));
}

void PickleStack::pushGrown(PickleValue holder, const std::vector<PickleValue>& parts) {
    if (holder.holder)
        hold(*holder.holder, parts);
    push(std::move(holder));
}

void PickleStack::pushTuple(const std::vector<PickleValue>& parts) {
    PickleValue tuple{PickleKind::kTuple, {}, std::make_shared<PickleHolder>()};
    hold(*tuple.holder, parts);
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
