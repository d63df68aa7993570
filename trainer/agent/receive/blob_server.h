// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/receive.h"

#include <memory>
#include <string>

namespace rm {

/// Passes blobs of a store on to other agents that have the key, also those that are still being
/// received, as they grow: so a chain of nodes receives at the same time. Nothing here is verified;
/// the receiver does that. Runs on a thread of its own.
class BlobServer {
public:
    /// `folder`: the BlobStore's. Listens on a free port of every address of this machine.
    static Result<std::unique_ptr<BlobServer>> start(const std::string& folder, const Serve& order);
    ~BlobServer(); ///< closes all connections
    int port() const;
    /// There is more in the store. Thread-safe, cheap.
    void grown();

private:
    class Loop;
    explicit BlobServer(std::unique_ptr<Loop> loop);
    std::unique_ptr<Loop> m_loop;
};

} // namespace rm
