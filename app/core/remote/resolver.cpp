// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/resolver.h"

#include "app/core/findings/text.h"

#include <netdb.h>
#include <sys/socket.h>

#include <array>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace rm {

namespace {

/// A lookup that may outlive its caller.
struct Question {
    std::mutex mutex;
    std::condition_variable_any answered;
    std::optional<FoundAddress> answer;
};

FoundAddress ask(const std::string& host, int family, int flags) {
    addrinfo hints{};
    hints.ai_flags = flags;
    hints.ai_family = family;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    FoundAddress answer{::getaddrinfo(host.c_str(), nullptr, &hints, &found)};
    std::array<char, NI_MAXHOST> text{};
    for (const addrinfo* each = found; each != nullptr; each = each->ai_next)
        if (::getnameinfo(each->ai_addr, each->ai_addrlen, text.data(), text.size(), nullptr, 0,
                          NI_NUMERICHOST) == 0)
            answer.addresses.emplace_back(text.data());
    if (found != nullptr)
        ::freeaddrinfo(found);
    return answer;
}

std::shared_ptr<Question> askAside(const std::string& host, int family, const HostLookup& lookUp) {
    auto question = std::make_shared<Question>();
    std::thread([question, host, family, lookUp] {
        const FoundAddress found = lookUp(host, family);
        const std::lock_guard lock(question->mutex);
        question->answer = found;
        question->answered.notify_all();
    }).detach();
    return question;
}

Result<std::vector<std::string>> verdict(const std::string& attempt, const FoundAddress& found) {
    if (found.code == 0)
        return found.addresses;
    return failAs(attempt, {ErrorCode::kUnavailable,
                            say("ssh.address-not-found", {{"why", ::gai_strerror(found.code)}})});
}

} // namespace

FoundAddress lookUpHost(const std::string& host, int family) {
    return ask(host, family, 0);
}

Result<std::vector<std::string>> awaitResolved(const std::string& host, int family,
                                               const std::string& attempt, const Patience& patience,
                                               const HostLookup& lookUp) {
    if (FoundAddress known = ask(host, AF_UNSPEC, AI_NUMERICHOST); known.code == 0)
        return std::move(known.addresses);
    const auto question = askAside(host, family, lookUp);
    std::unique_lock lock(question->mutex);
    const bool isAnswered = question->answered.wait_until(
        lock, patience.stop, patience.deadline, [&] { return question->answer.has_value(); });
    if (isAnswered)
        return verdict(attempt, *question->answer);
    if (patience.stop.stop_requested())
        return failCancelled(attempt);
    return failAs(attempt, {ErrorCode::kUnavailable, say("ssh.address-not-in-time")});
}

} // namespace rm
