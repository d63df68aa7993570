// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"
#include "trainer/train/workloads/translation/pairs/pair.h"

#include <cstddef>
#include <span>

namespace rm {

/// A message of a gettext catalogue, as its bytes are.
struct CatalogueMessage {
    std::string_view id;   ///< [context U+0004] text [NUL plural text]
    std::string_view text; ///< translation, or one for each plural form with NUL between
    bool operator==(const CatalogueMessage&) const = default;
};

/// The messages of a `.mo` file, of either byte order, as views into it ("The Format of GNU MO
/// Files" in the manual of GNU gettext). Messages with system-dependent parts are left out.
/// kCorrupt names `source`: bad magic, tables or strings outside of the file, a missing NUL.
Result<std::vector<CatalogueMessage>> parseCatalogue(std::span<const std::byte> file,
                                                     const std::string& source);

/// The translations in a catalogue as pairs. Contexts are dropped; singular and plural are a pair
/// each (with the first and the last form); marks of access keys ("_File", "&File") are removed if
/// both sides have one. Skipped without counting as bad: the header, untranslated and unchanged
/// messages, messages without letters, and translators' names. A message that is not in the
/// catalogue's character set is bad. kInvalid: an unknown character set.
Result<PairHarvest> readCatalogue(std::span<const std::byte> file, const std::string& source);

} // namespace rm
