// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/receive/blob_store.h"

#include <string>

namespace rm {

/// Makes HOME/KIND/ID of stored blobs in a temporary folder and renames it, so that a tree under
/// its final name is whole. Returns its path; an existing intact tree is not changed. Every file of
/// a bundle is verified (bundle_check.h). kInvalid: a kind, id or path that is not allowed.
/// kNotFound: a blob is missing. kCorrupt: it names a file that was there and had changed; what is
/// damaged is gone now, send it again.
Result<std::string> publishTree(const std::string& home, const BlobStore& blobs, const Tree& tree);

} // namespace rm
