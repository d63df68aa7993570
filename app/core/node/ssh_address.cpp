// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/node/ssh_address.h"

#include "app/core/findings/text.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <charconv>

namespace rm {

namespace {

constexpr int kMaxPort = 65535;

/// 0: it is none.
int portFrom(const std::string& text) {
    int port = 0;
    const char* end = text.data() + text.size();
    const auto parsed = std::from_chars(text.data(), end, port);
    const bool isPort = parsed.ec == std::errc() && parsed.ptr == end && port <= kMaxPort;
    return isPort ? std::max(port, 0) : 0;
}

} // namespace

Result<SshAddress> parseSshAddress(const std::string& text, const std::string& attempt) {
    SshAddress address;
    std::string rest = text;
    if (const size_t at = rest.find('@'); at != std::string::npos) {
        address.user = rest.substr(0, at);
        rest = rest.substr(at + 1);
    }
    const size_t bracket = rest.find(']');
    const size_t colon = rest.find(':', bracket == std::string::npos ? 0 : bracket);
    const bool bareV6 = bracket == std::string::npos && rest.find(':') != rest.rfind(':');
    if (colon != std::string::npos && !bareV6) {
        const std::string port = rest.substr(colon + 1);
        address.port = portFrom(port);
        if (address.port == 0)
            return failAs(attempt,
                          {ErrorCode::kInvalid, say("gpu.node-no-port", {{"port", port}})});
        rest.resize(colon);
    }
    if (rest.size() > 1 && rest.front() == '[' && rest.back() == ']')
        rest = rest.substr(1, rest.size() - 2);
    address.host = rest;
    return address;
}

std::string toText(const SshAddress& address) {
    const bool isV6 = address.host.find(':') != std::string::npos;
    const std::string host = isV6 && address.port != 0 ? '[' + address.host + ']' : address.host;
    return (address.user.empty() ? "" : address.user + '@') + host +
           (address.port == 0 ? "" : ':' + std::to_string(address.port));
}

Result<std::vector<SshAddress>> parseJumpHosts(const std::string& text,
                                               const std::string& attempt) {
    std::vector<SshAddress> hosts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(',', begin), text.size());
        RM_ASSIGN_OR_RETURN(auto host, parseSshAddress(text.substr(begin, end - begin), attempt));
        hosts.push_back(std::move(host));
        begin = end + 1;
    }
    return hosts;
}

} // namespace rm
