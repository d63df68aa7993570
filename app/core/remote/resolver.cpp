// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/remote/resolver.h"

#include "app/core/findings/text.h"

#include <netdb.h>

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
    std::optional<int> answer;
};

int ask(const std::string& host, int flags) {
    addrinfo hints{};
    hints.ai_flags = flags;
    hints.ai_socktype = SOCK_STREAM;
    addrinfo* found = nullptr;
    const int code = ::getaddrinfo(host.c_str(), nullptr, &hints, &found);
    if (found != nullptr)
        ::freeaddrinfo(found);
    return code;
}

std::shared_ptr<Question> askAside(const std::string& host, const HostLookup& lookUp) {
    auto question = std::make_shared<Question>();
    std::thread([question, host, lookUp] {
        const int code = lookUp(host);
        const std::lock_guard lock(question->mutex);
        question->answer = code;
        question->answered.notify_all();
    }).detach();
    return question;
}

Result<void> verdict(const std::string& attempt, int code) {
    if (code == 0)
        return {};
    return failAs(attempt, {ErrorCode::kUnavailable,
                            say("ssh.address-not-found", {{"why", ::gai_strerror(code)}})});
}

} // namespace

int lookUpHost(const std::string& host) {
    return ask(host, 0);
}

Result<void> awaitResolved(const std::string& host, const std::string& attempt,
                           const Patience& patience, const HostLookup& lookUp) {
    if (ask(host, AI_NUMERICHOST) == 0)
        return {};
    const auto question = askAside(host, lookUp);
    std::unique_lock lock(question->mutex);
    const bool isAnswered = question->answered.wait_until(
        lock, patience.stop, patience.deadline, [&] { return question->answer.has_value(); });
    if (isAnswered)
        return verdict(attempt, *question->answer);
    if (patience.stop.stop_requested())
        return fail(ErrorCode::kUnavailable, attempt + ": cancelled");
    return failAs(attempt, {ErrorCode::kUnavailable, say("ssh.address-not-in-time")});
}

} // namespace rm
