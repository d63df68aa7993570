// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/session/cause.h"

#include <c10/util/Exception.h>

namespace rm {

std::string causeOf(const std::exception& error) {
    const auto* ofTorch = dynamic_cast<const c10::Error*>(&error);
    const std::string text = ofTorch ? ofTorch->what_without_backtrace() : error.what();
    return text.substr(0, text.find('\n'));
}

} // namespace rm
