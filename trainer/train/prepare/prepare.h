// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <string>
#include <vector>

namespace rm {

/// The command line of `prepare`.
struct PrepareOptions {
    std::string kind; ///< "text" | "pairs"
    std::string out;
    std::string source; ///< pairs: languages ("en"); empty: as the files say
    std::string target;
    std::string tokenizer = "bytes"; ///< text: "bytes", "sentencepiece" or a model's file
    int64_t vocabSize = 8000;        ///< text, "sentencepiece"
    double maxBad = 0.01;            ///< pairs: share of bad lines
    std::vector<std::string> paths;
};

/// Writes `out`; tells its content on stdout and the progress on stderr.
Result<void> prepareText(const PrepareOptions& options);
Result<void> preparePairs(const PrepareOptions& options);

} // namespace rm
