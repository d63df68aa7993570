// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace rm {

// What a folder of training data holds: what is read by the trainer, sent to nodes and compared
// between them is one and the same.

/// How often a file is read that several names lead to.
enum class Repeated {
    kOnce,  ///< of texts and pairs
    kAlways ///< of pictures: by its name each belongs to a class, and may be meant to count twice
};

/// Calls `visit` with each regular file below `folder`, named relative to it ("a/b.txt"), by name
/// within each folder, until it returns false. Names that begin with a dot are left out. Links to
/// files and folders are followed; with kOnce not to what is found without them or by an earlier
/// link. No folder is entered from within itself, so that circles end. kNotFound names a link that
/// leads nowhere or to itself, kInvalid one of folders that link to each other in thousands of
/// ways; other errors name what cannot be read.
Result<void> visitDataFiles(const std::string& folder,
                            const std::function<bool(const std::string& name)>& visit,
                            Repeated repeated = Repeated::kOnce);

/// The same as a list, sorted by bytes.
Result<std::vector<std::string>> dataFiles(const std::string& folder,
                                           Repeated repeated = Repeated::kOnce);

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

/// What is wrong with a file that begins so where Git keeps it in the place of a large one that was
/// not fetched, with what to do; empty: it is no such pointer.
std::string whyNotFetched(std::string_view head);

/// Why a file that begins so is not of the kind that its name says: that it was not fetched, else
/// `otherwise`.
std::string whyNotOfItsKind(std::string_view head, const std::string& otherwise);
std::string whyNotOfItsKind(std::span<const std::byte> head, const std::string& otherwise);

} // namespace rm
