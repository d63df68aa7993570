// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/device/autocast.h"

#include <ATen/autocast_mode.h>

namespace rm {
namespace {

at::ScalarType typeOf(const std::string& precision) {
    return precision == "float16" ? at::kHalf : at::kBFloat16;
}

} // namespace

bool isComputedIn(const std::string& precision, const Device& device) {
    return precision == "float32" || device.plugin->isTrusted(typeOf(precision));
}

Autocast::Autocast(const std::string& precision, const Device& device)
    : m_on(precision != "float32" && isComputedIn(precision, device))
    , m_device(device.at.type()) {
    if (!m_on)
        return;
    at::autocast::set_autocast_dtype(m_device, typeOf(precision));
    at::autocast::set_autocast_enabled(m_device, true);
    at::autocast::increment_nesting();
}

Autocast::~Autocast() {
    if (!m_on)
        return;
    if (at::autocast::decrement_nesting() == 0)
        at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(m_device, false);
}

} // namespace rm
