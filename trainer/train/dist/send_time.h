// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace rm {

/// How long the TCP connections of this process to other machines had something to send, without
/// the time in which the other side took nothing (TCP_INFO: tcpi_busy_time and tcpi_rwnd_limited).
/// On a slow link that is most of a sum's time, while sums that wait for slower ranks send nothing.
/// What goes over InfiniBand is not seen. One thread.
class SendTime {
public:
    /// Looks for the connections that there are now, once ranks have met.
    SendTime();

    /// Milliseconds since the last call, of all connections together; nullopt: Linux does not tell
    /// (before 4.10).
    std::optional<double> takeMs();

private:
    std::vector<int> m_connections;  ///< not owned: a closed one tells nothing
    std::map<int, int64_t> m_lastUs; ///< by connection
    bool m_isTold = true;
};

} // namespace rm
