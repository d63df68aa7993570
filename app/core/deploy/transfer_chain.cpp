// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/deploy/transfer_chain.h"

#include "shared/io/random_hex.h"

#include <algorithm>

namespace rm {

namespace {

using namespace std::chrono_literals;

constexpr auto kRemembered = 500ms; ///< between two moments of a history
constexpr int kMostUnreached = 2;
constexpr int64_t kAbreast = 4 << 20; ///< bytes behind its source in which a node waits for it
constexpr auto kServeSoon = 20s;
constexpr std::ptrdiff_t kHeardOften = 5; ///< moments of kSlow: one comes about each second

} // namespace

TransferChain::TransferChain(std::vector<Party> parties, std::function<Clock::time_point()> now)
    : m_now(std::move(now))
    , m_order{"transfer-" + randomHex(8), randomHex(64)} {
    for (Party& party : parties)
        m_members.emplace_back().party = std::move(party);
}

void TransferChain::remember(Member& member, int64_t held) {
    const auto now = m_now();
    if (member.history.size() < 2 ||
        now - member.history[member.history.size() - 2].when >= kRemembered)
        member.history.push_back({now, held});
    else
        member.history.back() = {now, held};
}

void TransferChain::join(size_t node, int port, int64_t held, bool isWhole) {
    const std::lock_guard lock(m_mutex);
    Member& member = m_members[node];
    member.hasJoined = true;
    member.isWhole = isWhole;
    member.port = port;
    remember(member, held);
    m_changed.notify_all();
}

void TransferChain::progress(size_t node, int64_t held) {
    const std::lock_guard lock(m_mutex);
    remember(m_members[node], held);
}

void TransferChain::finish(size_t node, bool isWhole) {
    const std::lock_guard lock(m_mutex);
    Member& member = m_members[node];
    member.isOver = true;
    member.isWhole = isWhole;
    m_changed.notify_all();
}

bool TransferChain::canServe(const Member& member) const {
    return member.hasJoined && !member.hasLeft && (!member.isOver || member.isWhole) &&
           !member.party.addresses.empty();
}

/// Once they are known: the nodes that have everything, then the others by what they have. Who
/// comes later follows at the end.
void TransferChain::place(size_t node) {
    if (std::ranges::find(m_line, node) != m_line.end())
        return;
    std::vector<size_t> coming;
    for (size_t i = 0; i < m_members.size(); ++i)
        if (m_members[i].hasJoined && std::ranges::find(m_line, i) == m_line.end())
            coming.push_back(i);
    std::ranges::stable_sort(coming, std::greater(), [this](size_t i) {
        return std::pair(m_members[i].isWhole, m_members[i].history.back().held);
    });
    m_line.insert(m_line.end(), coming.begin(), coming.end());
}

std::optional<size_t> TransferChain::nearestAhead(size_t node) const {
    const Member& member = m_members[node];
    if (member.unreached >= kMostUnreached)
        return std::nullopt;
    for (auto at = std::ranges::find(m_line, node); at != m_line.begin();) {
        const size_t ahead = *--at;
        if (canServe(m_members[ahead]) && !member.left.contains(ahead))
            return ahead;
    }
    return std::nullopt;
}

std::optional<TransferChain::Source> TransferChain::sourceFor(size_t node,
                                                              const std::stop_token& stop) {
    std::unique_lock lock(m_mutex);
    m_changed.wait_for(lock, stop, kGather, [this, node] {
        return !m_line.empty() || std::ranges::all_of(m_members, [](const Member& member) {
            return member.hasJoined || member.isOver;
        });
    });
    place(node);
    while (const auto ahead = nearestAhead(node)) {
        Member& source = m_members[*ahead];
        if (source.port == 0) {
            source.isRequested = true;
            m_changed.notify_all();
            m_changed.wait_for(lock, stop, kServeSoon,
                               [&] { return source.port != 0 || !canServe(source); });
        }
        if (stop.stop_requested())
            break;
        if (source.port == 0) {
            m_members[node].left.insert(*ahead);
            continue;
        }
        m_members[node].source = ahead;
        m_members[node].sourceSince = m_now();
        return Source{*ahead, source.party.name,
                      Fetch{source.party.addresses, source.port, m_order.id, m_order.key}};
    }
    m_members[node].source.reset();
    return std::nullopt;
}

void TransferChain::leaveSource(size_t node, int64_t gained) {
    const std::lock_guard lock(m_mutex);
    Member& member = m_members[node];
    if (!member.source)
        return;
    member.left.insert(*member.source);
    member.source.reset();
    member.unreached += gained > 0 ? 0 : 1;
}

/// Whether `member` gets less from `ahead` than that one gets or got itself.
bool TransferChain::isSlow(const Member& member, const Member& ahead) const {
    const auto now = m_now();
    const int64_t held = member.history.back().held;
    const auto isMore = [held](const Moment& moment) { return moment.held > held; };
    const auto since = std::ranges::find_if(ahead.history, isMore);
    if (since == ahead.history.end() || now - since->when < kSlow)
        return false;
    const bool isStill = !(ahead.isWhole || ahead.isOver);
    if (isStill)
        return true;
    // The other has all by now. How fast it got that is what can be expected.
    const auto recent = std::ranges::find_if(
        member.history, [now](const Moment& moment) { return now - moment.when <= kSlow; });
    const int64_t gained = recent == member.history.end() ? 0 : held - recent->held;
    const Moment &first = ahead.history.front(), &last = ahead.history.back();
    const double seconds = std::chrono::duration<double>(last.when - first.when).count();
    const double usual = seconds > 0 ? static_cast<double>(last.held - first.held) / seconds : 0;
    const double now10 = static_cast<double>(gained) / std::chrono::duration<double>(kSlow).count();
    return gained == 0 || now10 < usual / 4;
}

/// Whether nothing comes from its source, which then lacks what this one lacks, as it lost stored
/// files, and says for ever that it has no more yet. A node that is not heard of itself, as it
/// hashes what came, does not stand still.
bool TransferChain::standsStill(const Member& member) const {
    const int64_t held = member.history.back().held;
    const auto since = std::ranges::find_if(member.history, [&](const Moment& moment) {
        return moment.held >= held && moment.when >= member.sourceSince;
    });
    return member.history.end() - since >= kHeardOften && m_now() - since->when >= kSlow;
}

bool TransferChain::isSourceSlow(size_t node) const {
    const std::lock_guard lock(m_mutex);
    const Member& member = m_members[node];
    if (!member.source)
        return false;
    const Member& source = m_members[*member.source];
    if (source.isWhole)
        return standsStill(member);
    const bool waits = member.history.back().held + kAbreast >= source.history.back().held;
    if (!source.source || !waits)
        return false;
    return isSlow(source, m_members[*source.source]);
}

bool TransferChain::isToServe(size_t node, const std::stop_token& stop) {
    std::unique_lock lock(m_mutex);
    const Member& member = m_members[node];
    const auto isRequested = [&] { return member.isRequested && member.port == 0; };
    const auto isDone = [&](bool waitsForAll) {
        return isRequested() || std::ranges::all_of(m_members, [&](const Member& each) {
                   return each.isOver || (!waitsForAll && !each.hasJoined);
               });
    };
    m_changed.wait_for(lock, stop, kGather, [&] { return isDone(true); });
    m_changed.wait(lock, stop, [&] { return isDone(false); });
    return isRequested() && !stop.stop_requested();
}

void TransferChain::leave(size_t node) {
    const std::lock_guard lock(m_mutex);
    m_members[node].hasLeft = true;
    m_changed.notify_all();
}

} // namespace rm
