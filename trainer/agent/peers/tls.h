// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <asio/ssl/context.hpp>

#include <memory>
#include <string>

namespace rm {

/// A context for TLS 1.3 with a key that both sides have beforehand (RFC 8446, 2.2), in place of
/// certificates: a client that does not know the key of the run completes no handshake. A server
/// could do it with a certificate, so that the client has to demand that none is used (verify_peer,
/// SSL_session_reused()).
/// `key`: NodePlan::agentKey, 64 hex digits. `runId` names it in the handshake. kInvalid: it is no
/// such key.
Result<std::unique_ptr<asio::ssl::context>> makeRunTls(const std::string& runId,
                                                       const std::string& key);

} // namespace rm
