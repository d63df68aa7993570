// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/device/device.h"

#include <string>

namespace rm {

/// Runs what follows in the number format that `precision` names, where that is safe.
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
