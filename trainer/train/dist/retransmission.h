// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace rm {

/// Lets every TCP connection that this process has now try again each second while nothing gets
/// through. TCP doubles its wait after each try, up to 2 min, so that a link that was down for 30 s
/// carries nothing for up to another 30 s once it is back. Connections are given up after as long
/// as before, 15 min. Returns how many there are; 0 where Linux cannot do it (before 6.15: there
/// nothing is changed).
int retransmitEachSecond();

} // namespace rm
