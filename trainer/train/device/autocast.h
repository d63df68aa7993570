// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/device.h"

#include <string>

namespace rm {

/// Whether the device is trusted with the number format that `precision` names; else it computes in
/// float32.
bool isComputedIn(const std::string& precision, const Device& device);

/// Autocast for the current scope, in the number format that `precision` names if the device is
/// trusted with it.
class Autocast {
public:
    Autocast(const std::string& precision, const Device& device);
    ~Autocast();
    Autocast(const Autocast&) = delete;
    Autocast& operator=(const Autocast&) = delete;

private:
    bool m_on;
    at::DeviceType m_device;
};

} // namespace rm
