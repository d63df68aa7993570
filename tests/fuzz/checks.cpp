// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/check_history.h"
#include "app/core/fleet/checks_file.h"
#include "tests/fuzz/fuzz.h"

using namespace rm;

/// What checks found, as it is kept: checks.json, and the history of a node.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    const std::string text(fuzz::text(data, size));
    Node node;
    node.name = node.sshHost = "node-a";
    for (const NodeCheck& check : parseChecks(text, {node})) {
        const std::string kept = withCheck("", node, check);
        RM_HOLDS(withCheck(kept, node, check) == kept);
        RM_HOLDS(parseChecks(kept, {node}).size() == 1);
        RM_HOLDS(parseHistory(withPastCheck(text, node, check)).size() <= kKeptChecks);
    }
    for (const PastCheck& past : parseHistory(text))
        for (const std::string& change : past.changes)
            RM_HOLDS(!change.empty());
    return 0;
}
