// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

// What a folder of training data holds: what is read by the trainer, sent to nodes and compared
// between them is one and the same.

/// Calls `visit` with each regular file below `folder`, named relative to it ("a/b.txt"), by name
/// within each folder, until it returns false. Names that begin with a dot are left out. Links to
/// files and folders are followed, but not to what is found without them or by an earlier link.
/// kNotFound names a link that leads nowhere or in a circle; other errors name what cannot be read.
Result<void> visitDataFiles(const std::string& folder,
                            const std::function<bool(const std::string& name)>& visit);

/// The same as a list, sorted by bytes.
Result<std::vector<std::string>> dataFiles(const std::string& folder);

/// What becomes of what a person names and is not read.
enum class Others {
    kRefused, ///< by name
    kLeftOut  ///< of a run that goes on, which has trained without it already
};

/// Why a file that begins so is not text, with what to do: "it is compressed by gzip: unpack it
/// first". Empty: it may be text. `head` should have some thousand bytes, or the whole file.
std::string whyNotText(std::string_view head);

/// Where the text stops to be UTF-8, as a byte of it; nullopt: it does not, but may end within a
/// character.
std::optional<size_t> endOfUtf8(std::string_view text);

/// Git keeps such a file in the place of a large one that was not fetched.
bool isLfsPointer(std::string_view head);

} // namespace rm
