// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/agent/agent_client.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

/// What an agent says of a folder, of data, and to several questions at once. Nothing is told of
/// what was not in the answer.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(fuzz::text(data, size));
    const auto folder = parseFolderOnNode(text);
    RM_HOLDS(folder || folder.error().code == ErrorCode::kCorrupt);
    const auto fingerprint = parseDataFingerprint(text);
    RM_HOLDS(fingerprint || fingerprint.error().code == ErrorCode::kCorrupt);
    for (const size_t questions : {0, 2}) {
        const auto answers = parseAnswers(text, questions);
        RM_HOLDS(answers ? answers->size() == questions
                         : answers.error().code == ErrorCode::kCorrupt);
    }
    return 0;
}
