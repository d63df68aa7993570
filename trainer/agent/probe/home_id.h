// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace rm {

/// 32 random hex digits that the ringmaster home keeps in its file `home-id`, made by whoever asks
/// first: nodes that tell the same one share that folder, however they mount it. Empty: the folder
/// is not there, or cannot be read or written.
std::string homeId(const std::string& home);

/// The same of the folder that holds runs/, in its file `state-id`.
std::string stateId(const std::string& stateDir);

} // namespace rm
