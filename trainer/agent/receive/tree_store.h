// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/agent/receive/blob_store.h"

#include <string>

namespace rm {

/// Makes HOME/KIND/ID of stored blobs: staged, then renamed, so that a tree under its final name
/// is whole. Gives its path; a tree that is there and intact is left as it is. kInvalid: a kind, id
/// or path that is not ours to write. kNotFound: a blob is missing.
Result<std::string> publishTree(const std::string& home, const BlobStore& blobs, const Tree& tree);

} // namespace rm
