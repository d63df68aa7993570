// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/runs/procedure_context.h"

#include "app/core/findings/text.h"

#include <algorithm>

namespace rm {

Result<Node> nodeCalled(const ProcedureContext& context, const std::string& name) {
    const auto found = std::ranges::find(context.nodes, name, &Node::name);
    if (found != context.nodes.end())
        return *found;
    return failAs(say("run.find-node", {{"node", name}}),
                  {ErrorCode::kNotFound, say("run.node-not-listed")});
}

} // namespace rm
