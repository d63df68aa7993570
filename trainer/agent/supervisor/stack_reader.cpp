// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/stack_reader.h"

#include <utility>

namespace rm {

namespace {

constexpr std::chrono::seconds kPatience(5);

std::string inOneLine(std::string text) {
    while (text.ends_with('\n'))
        text.pop_back();
    for (size_t at = 0; (at = text.find('\n', at)) != text.npos; at += 2)
        text.replace(at, 1, "; ");
    return text;
}

} // namespace

void StackReader::read(int64_t pid, std::function<void(std::string)> done) {
    m_child.run({"stack", std::to_string(pid)}, "", kPatience,
                [done = std::move(done)](std::string text) {
                    if (text = inOneLine(std::move(text)); !text.empty())
                        done(std::move(text));
                });
}

} // namespace rm
