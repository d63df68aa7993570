// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/wire/receive.h"

#include <functional>
#include <string>

namespace rm {

/// The calls by which a fetch hands on what comes.
struct FetchHandlers {
    /// A Chunk or BlobEnd: the bytes of blobs in it. An error ends the fetch; kCorrupt and kInvalid
    /// are the other node's fault.
    std::function<Result<int64_t>(const Transfer&)> onTransfer;
    std::function<bool()> isWhole; ///< nothing is missing any more
    std::function<Result<void>(const Fetching&)> report;
};

/// Gets `missing` from a BlobServer, over whichever of its addresses answers first. Ends when all
/// is there, when that node fails or is silent for 10 s, or as soon as anything can be read from
/// `inputFd`. The answer: why it ended before all was there, empty: all is. An error is this node's
/// own.
Result<std::string> fetchBlobs(const Fetch& order, const std::vector<MissingBlob>& missing,
                               int inputFd, const FetchHandlers& handlers);

} // namespace rm
