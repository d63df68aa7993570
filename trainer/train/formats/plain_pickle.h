// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <set>
#include <span>
#include <string>

namespace rm {

/// A pickle of which nothing is left but data: what torch::jit::Unpickler understands, and what it
/// may safely be given. See toPlainPickle().
struct PlainPickle {
    std::string bytes;
    size_t consumed = 0;            ///< bytes of the original up to its end
    std::set<std::string> replaced; ///< classes whose objects became tuples: "argparse.Namespace"
};

/// Rewrites a pickle of protocol 2 (torch.save's;
/// https://docs.python.org/3/library/pickletools.html) opcode by opcode, following its stack by
/// kinds:
///
///   collections.OrderedDict     becomes a dict; its attributes are set aside
///   torch._utils._rebuild_tensor_v2, _rebuild_parameter, torch.XxxStorage   stay
///   every other class           becomes None, and what is made with it a tuple of its parts
///   memo numbers                are dealt out anew, without gaps
///
/// so that nothing is called but what builds tensors. kCorrupt: a stack that underflows, an unknown
/// opcode, a text that leaves the file; kInvalid: another protocol. Errors name `source`.
Result<PlainPickle> toPlainPickle(std::span<const std::byte> pickle, const std::string& source);

} // namespace rm
