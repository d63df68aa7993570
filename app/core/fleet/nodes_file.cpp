// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/nodes_file.h"

#include "app/core/node/node_check.h"
#include "shared/return_if_error.h"

#define TOML_EXCEPTIONS 0
#define TOML_HEADER_ONLY 1
#include <toml++/toml.h>

#include <algorithm>
#include <sstream>

namespace rm {

namespace {

tl::unexpected<Error> bad(const std::string& source, const toml::source_region& where,
                          const std::string& what) {
    return fail(ErrorCode::kInvalid,
                "read " + source + ", line " + std::to_string(where.begin.line) + ": " + what);
}

Result<void> readText(const toml::node& value, const std::string& key, const std::string& source,
                      std::string& field) {
    const auto text = value.value_exact<std::string>();
    if (!text)
        return bad(source, value.source(), key + " must be a text in quotes");
    field = *text;
    return {};
}

Result<void> readField(const std::string& key, const toml::node& value, const std::string& source,
                       Node& node) {
    if (key == "name")
        return readText(value, key, source, node.name);
    if (key == "host")
        return readText(value, key, source, node.sshHost);
    if (key == "user")
        return readText(value, key, source, node.user);
    if (key == "identity_file")
        return readText(value, key, source, node.identityFile);
    if (key != "port")
        return bad(source, value.source(),
                   "unknown key '" + key +
                       "'; allowed are name, host, user, port and identity_file");
    const auto port = value.value_exact<int64_t>();
    if (!port || *port < 1 || *port > 65535)
        return bad(source, value.source(), "port must be a number from 1 to 65535");
    node.port = static_cast<int>(*port);
    return {};
}

Result<Node> readNode(const toml::table& table, const std::string& source) {
    Node node;
    for (const auto& [key, value] : table) {
        RM_RETURN_IF_ERROR(readField(std::string(key.str()), value, source, node));
    }
    if (auto good = checkNode(node); !good)
        return bad(source, table.source(), good.error().message);
    return node;
}

void writeText(std::ostream& out, const char* key, const std::string& text) {
    if (!text.empty())
        out << key << " = " << toml::value<std::string>(text) << '\n';
}

} // namespace

Result<std::vector<Node>> parseNodes(std::string_view toml, const std::string& source) {
    const toml::parse_result parsed = toml::parse(toml, source);
    if (!parsed)
        return bad(source, parsed.error().source(), std::string(parsed.error().description()));
    std::vector<Node> nodes;
    for (const auto& [key, value] : parsed.table()) {
        const toml::array* list = value.as_array();
        if (key.str() != "node" || list == nullptr)
            return bad(source, value.source(),
                       "unknown key '" + std::string(key.str()) + "'; nodes are [[node]] tables");
        for (const toml::node& item : *list) {
            if (!item.is_table())
                return bad(source, item.source(), "nodes are [[node]] tables");
            RM_ASSIGN_OR_RETURN(auto node, readNode(*item.as_table(), source));
            if (std::ranges::any_of(nodes, [&](const Node& n) { return n.name == node.name; }) ||
                node.name == kLocalNodeName)
                return bad(source, item.source(), "there is already a node " + node.name);
            nodes.push_back(std::move(node));
        }
    }
    return nodes;
}

std::string toToml(const std::vector<Node>& nodes) {
    std::ostringstream out;
    out << "# The nodes of Ringmaster. A host is a name of ~/.ssh/config or an address; the other "
           "keys override.\n";
    for (const Node& node : nodes) {
        out << "\n[[node]]\n";
        writeText(out, "name", node.name);
        writeText(out, "host", node.sshHost);
        writeText(out, "user", node.user);
        if (node.port != 0)
            out << "port = " << node.port << '\n';
        writeText(out, "identity_file", node.identityFile);
    }
    return out.str();
}

} // namespace rm
