// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstddef>
#include <set>
#include <span>
#include <string>

namespace rm {

/// A pickle reduced to plain data, which torch::jit::Unpickler understands and can safely read. See
/// toPlainPickle().
struct PlainPickle {
    std::string bytes;
    size_t consumed = 0;            ///< bytes of the original up to its end
    std::set<std::string> replaced; ///< classes whose objects became tuples: "argparse.Namespace"
};

/// Rewrites a pickle of protocol 2 (torch.save's;
/// https://docs.python.org/3/library/pickletools.html) opcode by opcode, tracking the kinds of
/// values on its stack:
///
///   collections.OrderedDict     becomes a dict; its attributes are set aside
///   torch._utils._rebuild_tensor_v2, _rebuild_parameter, torch.XxxStorage   stay
///   every other class           becomes None, and what is made with it a tuple of its parts
///   memo numbers                are dealt out anew, without gaps
///
/// so that only functions that build tensors are called. kCorrupt: a stack underflow, an unknown
/// opcode, a string beyond the end of the file, objects nested more than 200 deep or in themselves;
/// kInvalid: another protocol. Errors name `source`.
Result<PlainPickle> toPlainPickle(std::span<const std::byte> pickle, const std::string& source);

} // namespace rm
