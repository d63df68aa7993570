// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "shared/wire/dial.h"

#include <vector>

namespace rm {

/// `listen`: accepts connections on some ports of every address of this machine, so that other
/// nodes can find out by dialAll() which of them they reach. Each connection begins with
/// dialGreeting(); what comes then is sent back, up to some 100 KiB. Prints OpenPorts on `outputFd`
/// once it listens, and ends when `inputFd` closes. kUnavailable: it cannot listen, or `inputFd`
/// stayed open for `seconds`.
Result<void> listenForDials(const ListenOrder& order, int seconds, int inputFd, int outputFd);

/// How long a dial may take, and all of them.
struct DialLimits {
    int64_t connectMs = 3500;  ///< Linux asks for a neighbour for 3 s
    int64_t exchangeMs = 4000; ///< after it was connected
    int64_t wholeMs = 8000;
};

/// `dial`: tries all targets at once, as many as this process may have sockets; the answers are in
/// their order. kInvalid: a target is no address.
Result<std::vector<DialAnswer>> dialAll(const DialOrder& order, const DialLimits& limits = {});

} // namespace rm
