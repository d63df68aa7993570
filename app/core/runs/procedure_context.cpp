// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/procedure_context.h"

#include <algorithm>

namespace rm {

Result<Node> nodeCalled(const ProcedureContext& context, const std::string& name) {
    const auto found = std::ranges::find(context.nodes, name, &Node::name);
    if (found != context.nodes.end())
        return *found;
    return fail(ErrorCode::kNotFound,
                "find node " + name + ": it is not in the list; add it first");
}

} // namespace rm
