// SPDX-License-Identifier: GPL-3.0-or-later
#pragma once

namespace rm {

/// What becomes of a launch for which a node seems to have too little memory.
enum class IfTooLarge { kRefuse, kLaunch };

} // namespace rm
