// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/fleet/nodes_file.h"

#include "app/core/node/node_check.h"
#include "shared/return_if_error.h"
#include "shared/spec/toml_fields.h"
#include "shared/spec/toml_library.h"

#include <algorithm>
#include <sstream>

namespace rm {

namespace {

tl::unexpected<Error> bad(const std::string& source, const toml::source_region& where,
                          const std::string& what) {
    return fail(ErrorCode::kInvalid,
                "read " + source + ", line " + std::to_string(where.begin.line) + ": " + what);
}

/// A key of [[node]] whose value is a text or a list of texts.
struct TextKey {
    const char* name;
    std::string Node::*text = nullptr;
    std::vector<std::string> Node::*list = nullptr;
};

constexpr TextKey kTextKeys[] = {
    {"name", &Node::name},          {"host", &Node::sshHost},
    {"user", &Node::user},          {"identity_file", &Node::identityFile},
    {"jump_host", &Node::jumpHost}, {"groups", nullptr, &Node::groups},
    {"gpus", nullptr, &Node::gpus}, {"environment", nullptr, &Node::environment},
    {"notes", &Node::notes},        {"sbatch", nullptr, &Node::sbatch},
};

bool readText(const toml::node& value, std::string& field) {
    const auto text = value.value_exact<std::string>();
    field = text.value_or(std::string());
    return text.has_value();
}

bool readTexts(const toml::node& value, std::vector<std::string>& field) {
    const toml::array* list = value.as_array();
    return list != nullptr && std::ranges::all_of(*list, [&field](const toml::node& item) {
               return readText(item, field.emplace_back());
           });
}

/// Texts and lists as parsed; false: the key is another.
Result<bool> readTextKey(const std::string& key, const toml::node& value, const std::string& source,
                         Node& node) {
    const auto* const known =
        std::ranges::find_if(kTextKeys, [&key](const TextKey& each) { return key == each.name; });
    if (known == std::end(kTextKeys))
        return false;
    if (known->text != nullptr && !readText(value, node.*known->text))
        return bad(source, value.source(), key + " must be a text in quotes");
    if (known->list != nullptr && !readTexts(value, node.*known->list))
        return bad(source, value.source(), key + " must be a list of texts in quotes");
    return true;
}

void makeInline(toml::node& value) {
    if (toml::table* table = value.as_table()) {
        table->is_inline(true);
        for (auto&& [key, each] : *table)
            makeInline(each);
    }
    if (toml::array* list = value.as_array())
        for (toml::node& each : *list)
            makeInline(each);
}

/// "key = value", each in a line that may stand among the keys of any table.
std::string linesOf(toml::table table) {
    for (auto&& [key, value] : table)
        makeInline(value);
    std::ostringstream out;
    out << toml::toml_formatter(table);
    return table.empty() ? std::string() : out.str() + '\n';
}

/// Puts what this release does not know of a table into `lines`, and a sentence for each key into
/// the file's warnings. `whose`: " of node a".
void keepOthers(const toml::table& others, const std::string& source, const std::string& whose,
                std::string& lines, NodesFile& file) {
    for (const auto& [key, value] : others)
        file.warnings.push_back(source + ": this release does not know the key '" +
                                std::string(key.str()) + '\'' + whose +
                                "; it is kept there, and has no effect");
    lines = linesOf(others);
}

Result<Node> readNode(const toml::table& table, const std::string& source, NodesFile& file) {
    Node node;
    toml::table others;
    for (const auto& [key, value] : table) {
        const std::string name(key.str());
        RM_ASSIGN_OR_RETURN(const bool isText, readTextKey(name, value, source, node));
        if (isText)
            continue;
        if (name == "slurm") {
            const auto isSlurm = value.value_exact<bool>();
            if (!isSlurm)
                return bad(source, value.source(), "slurm must be true or false");
            node.isSlurm = *isSlurm;
            continue;
        }
        if (name == "price_per_hour") {
            node.pricePerHour = value.value<double>().value_or(-1);
            continue;
        }
        if (name != "port") {
            others.insert(key, value);
            continue;
        }
        const auto port = value.value_exact<int64_t>();
        if (!port || *port < 1 || *port > 65535)
            return bad(source, value.source(), "port must be a number from 1 to 65535");
        node.port = static_cast<int>(*port);
    }
    keepOthers(others, source, " of node " + node.name, node.otherKeys, file);
    // A cluster without a host is this computer's.
    node.isLocal = node.name == kLocalNodeName || (node.isSlurm && node.sshHost.empty());
    if (auto good = checkNode(node); !good)
        return bad(source, table.source(), good.error().message);
    return node;
}

Result<void> readNodes(const toml::array& list, const std::string& source, NodesFile& file) {
    for (const toml::node& item : list) {
        if (!item.is_table())
            return bad(source, item.source(), "nodes are [[node]] tables");
        RM_ASSIGN_OR_RETURN(auto node, readNode(*item.as_table(), source, file));
        if (std::ranges::find(file.nodes, node.name, &Node::name) != file.nodes.end())
            return bad(source, item.source(), "there is already a node " + node.name);
        file.nodes.push_back(std::move(node));
    }
    return {};
}

void writeNode(std::ostream& out, const Node& node) {
    out << "\n[[node]]\n";
    for (const TextKey& key : kTextKeys) {
        toml::array list;
        if (key.list != nullptr)
            for (const std::string& each : node.*key.list)
                list.push_back(each);
        if (!list.empty())
            out << key.name << " = " << list << '\n';
        if (key.text != nullptr && !(node.*key.text).empty())
            out << key.name << " = " << toml::value<std::string>(node.*key.text) << '\n';
    }
    if (node.port != 0)
        out << "port = " << node.port << '\n';
    if (node.isSlurm)
        out << "slurm = true\n";
    if (node.pricePerHour > 0)
        out << "price_per_hour = " << plainNumber(node.pricePerHour) << '\n';
    out << node.otherKeys;
}

} // namespace

Result<NodesFile> parseNodes(std::string_view toml, const std::string& source) {
    if (const int line = lineOfDeepKey(toml))
        return fail(ErrorCode::kInvalid, "read " + source + ", line " + std::to_string(line) +
                                             ": a key with so many dots is none");
    const toml::parse_result parsed = toml::parse(toml, source);
    if (!parsed)
        return bad(source, parsed.error().source(), std::string(parsed.error().description()));
    NodesFile file;
    toml::table others;
    for (const auto& [key, value] : parsed.table()) {
        if (key.str() != "node") {
            others.insert(key, value);
            continue;
        }
        if (!value.is_array())
            return bad(source, value.source(), "nodes are [[node]] tables");
        RM_RETURN_IF_ERROR(readNodes(*value.as_array(), source, file));
    }
    keepOthers(others, source, "", file.otherKeys, file);
    return file;
}

std::string toToml(const NodesFile& file) {
    std::ostringstream out;
    out << "# The nodes of Ringmaster. A host is a name of ~/.ssh/config or an address; the other "
           "keys override.\n"
        << file.otherKeys;
    for (const Node& node : file.nodes)
        writeNode(out, node);
    return out.str();
}

} // namespace rm
