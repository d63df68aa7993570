// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "trainer/train/session/session.h"

#include <functional>

namespace rm {

/// Shows the proofs that a session's device still lacks, in a process of its own.
using ShowInProcess = std::function<Result<void>(const Session&)>;

/// `ringmaster-trainer self-test --go-on` for this rank's device.
Result<void> showInOwnProgram(const Session& session);

/// Takes the fast paths that failed the self-test away from session.device, each with an event
/// (fast-path-off). A device that was not tested with this driver and runtime yet is tested first,
/// about ten seconds long, with an event (self-test); the result is kept in the node's home. If it
/// cannot be tested, all fast paths are off, and the next start tries again. kUnavailable: the
/// device itself computes wrongly. A CPU is not tested. To be called before configureDevice().
Result<void> trustWhatIsProven(Session& session,
                               const ShowInProcess& showInProcess = showInOwnProgram);

/// Tells by the same event that this world's ranks do without the device's collectives.
void reportCollectives(const Session& session);

} // namespace rm
