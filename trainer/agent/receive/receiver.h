// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/receive/blob_store.h"
#include "trainer/agent/receive/installed_torch.h"

#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace rm {

/// The agent's side of shared/wire/receive.h. Passive: transfers in, answers out.
class Receiver {
public:
    /// Told now and then while what an installed torch has is read and copied, which may take
    /// minutes within one Offer: bytes of the files of it that are in the store by now.
    using OnReuse = std::function<void(int64_t bytes)>;

    /// `home`: bundles/, data/ and blobs/ are made below it. `sitePackages`: where an installed
    /// torch may have what is offered.
    explicit Receiver(std::string home, std::vector<std::string> sitePackages = {},
                      OnReuse onReuse = {});

    Result<void> prepare();
    /// Returns the answer, if any. An error ends the stream; say it as Failed first.
    Result<std::optional<Transfer>> onTransfer(const Transfer& transfer);

    const BlobStore& blobs() const { return m_blobs; }
    /// Blobs that were offered and have not come, in the order in which they are expected.
    std::vector<MissingBlob> expected() const;
    /// Forgets these blobs: they are to be offered again.
    void forgetExpected();
    int64_t received() const { return m_received; } ///< bytes of blobs in chunks so far

private:
    struct Expected {
        Blob blob;
        int64_t offset = 0;
    };
    Result<std::optional<Transfer>> onOffer(const Offer& offer);
    Result<std::optional<Transfer>> onTree(const Tree& part);
    Result<void> onChunk(const Chunk& chunk);
    Result<std::optional<Transfer>> onBlobEnd(const BlobEnd& end);
    Result<IncomingBlob*> current();
    Result<bool> isInstalled(const Blob& blob, bool preview, const OnWork& onWork);

    std::string m_home;
    BlobStore m_blobs;
    InstalledTorch m_installed;
    OnReuse m_onReuse;
    int64_t m_received = 0;
    Tree m_tree;                            ///< the tree so far, if more parts follow
    std::deque<Expected> m_expected;        ///< blobs of Missing that have not ended
    std::optional<IncomingBlob> m_incoming; ///< the first of them, once it has begun
    std::vector<std::byte> m_plain;
};

/// "1.5 GB"
std::string inGigabytes(int64_t bytes);

/// Gives each transfer that comes to `onTransfer` and sends its answer, until the input ends. An
/// error is sent as Failed.
Result<void>
serveTransfers(int inputFd, int outputFd,
               const std::function<Result<std::optional<Transfer>>(const Transfer&)>& onTransfer);

/// `receive`: the loop over stdin and stdout.
Result<void> receiveAll(const std::string& home, int inputFd, int outputFd);

} // namespace rm
