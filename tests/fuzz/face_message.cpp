// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/holder/messages.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

namespace {

std::span<const std::byte> bytesOf(const QByteArray& text) {
    return std::as_bytes(std::span(text.constData(), static_cast<size_t>(text.size())));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const auto message = decodeFaceMessage(fuzz::bytes(data, size));
    if (!message)
        return 0;
    const QByteArray sent = encodeFaceMessage(*message);
    const auto again = decodeFaceMessage(bytesOf(sent));
    RM_HOLDS(again.has_value());
    RM_HOLDS(encodeFaceMessage(*again) == sent);
    return 0;
}
