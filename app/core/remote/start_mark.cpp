// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/start_mark.h"

#include "app/core/findings/text.h"

#include <algorithm>

namespace rm {

namespace {

// A line of its own: `set -x` and `set -v` show the commands that write it, never such a line.
constexpr std::string_view kWord = "ringmaster-program-begins";
const std::string kLine = '\n' + std::string(kWord) + '\n';

} // namespace

std::string StartMark::commands() {
    const std::string word(kWord);
    return "echo; echo " + word + "; echo >&2; echo " + word + " >&2; ";
}

Result<std::string_view> StartMark::skip(std::string_view bytes) {
    if (m_isSeen)
        return bytes;
    const size_t known = m_before.size();
    const size_t room = kMostBefore + kLine.size() - known;
    m_before += bytes.substr(0, room);
    const size_t from = known - std::min(known, kLine.size());
    const size_t found = m_before.find(kLine, from);
    if (found != std::string::npos) {
        m_isSeen = true;
        m_before.resize(found);
        return bytes.substr(found + kLine.size() - known);
    }
    if (m_before.size() > kMostBefore)
        return fail(ErrorCode::kCorrupt, say("ssh.shell-prints-too-much"));
    return std::string_view();
}

} // namespace rm
