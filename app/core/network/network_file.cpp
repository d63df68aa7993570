// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/network_file.h"

#include "app/core/findings/text.h"
#include "app/core/settings/private_files.h"
#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <filesystem>
#include <limits>
#include <optional>
#include <utility>

namespace rm {

namespace {

constexpr int64_t kNetworkVersion = 2; ///< 1: without "answered_by"
constexpr size_t kMostNodes = 1024;

Json addressJson(const InterfaceReport& at) {
    return {{"name", at.name},
            {"address", at.address},
            {"prefix", at.prefix},
            {"speed_mbit", at.speedMbit}};
}

std::optional<InterfaceReport> addressFrom(const Json& json) {
    const auto name = textAt(json, "name"), address = textAt(json, "address");
    const auto prefix = intAt(json, "prefix"), speed = intAt(json, "speed_mbit");
    if (!name || !address || !prefix || *prefix < 0 || *prefix > 128 || !speed || *speed < -1)
        return std::nullopt;
    return InterfaceReport{*name, *address, static_cast<int>(*prefix), true, *speed};
}

Json nodeJson(const NetworkNode& node) {
    Json addresses = Json::array();
    for (const InterfaceReport& at : node.addresses)
        addresses.push_back(addressJson(at));
    Json json = {
        {"name", node.name}, {"addresses", std::move(addresses)}, {"problem", node.problem}};
    // Its token is for one measurement and says nothing later.
    if (node.problem.empty())
        json["ports"] = {{"port", node.ports.port},
                         {"samples", node.ports.samples},
                         {"range", {node.ports.rangeFirst, node.ports.rangeLast}}};
    return json;
}

std::optional<NetworkNode> nodeFrom(const Json& json) {
    const auto name = textAt(json, "name"), problem = textAt(json, "problem");
    const Json* addresses = arrayAt(json, "addresses");
    if (!name || !problem || !addresses)
        return std::nullopt;
    NetworkNode node{*name, {}, {}, *problem};
    for (const Json& item : *addresses) {
        const auto at = addressFrom(item);
        if (!at)
            return std::nullopt;
        node.addresses.push_back(*at);
    }
    if (!problem->empty())
        return node;
    Json ports = json.contains("ports") && json.at("ports").is_object() ? json.at("ports") : Json();
    if (!ports.is_object())
        return std::nullopt;
    ports["next"] = 0;
    ports["token"] = "";
    const auto open = parseOpenPorts(dumpJson(ports));
    if (!open)
        return std::nullopt;
    node.ports = *open;
    return node;
}

Json trialJson(const NetworkTrial& trial) {
    const DialAnswer& answer = trial.answer;
    return {{"from", trial.from},
            {"to", trial.to},
            {"by", trial.by},
            {"address", trial.address},
            {"port", trial.port},
            {"reach", reachName(answer.reach)},
            {"large_packets", largePacketsName(answer.large)},
            {"interface", answer.interface},
            {"microseconds", answer.microseconds},
            {"mtu", answer.mtu},
            {"error", answer.error},
            {"answered_by", answer.answeredBy}};
}

std::optional<NetworkTrial> trialFrom(const Json& json, size_t nodes) {
    const auto from = intAt(json, "from"), to = intAt(json, "to"), port = intAt(json, "port"),
               microseconds = intAt(json, "microseconds"), mtu = intAt(json, "mtu");
    const auto by = textAt(json, "by"), address = textAt(json, "address"),
               interface = textAt(json, "interface"), error = textAt(json, "error");
    const auto reach = reachOfName(textAt(json, "reach").value_or(""));
    const auto large = largePacketsOfName(textAt(json, "large_packets").value_or(""));
    const auto isNode = [nodes](const std::optional<int64_t>& index) {
        return index && *index >= 0 && *index < static_cast<int64_t>(nodes);
    };
    if (!isNode(from) || !isNode(to) || *from == *to || !port || !microseconds || !mtu || !by ||
        !address || !interface || !error || !reach || !large)
        return std::nullopt;
    return NetworkTrial{static_cast<int>(*from),
                        static_cast<int>(*to),
                        *by,
                        *address,
                        *port,
                        {*reach, *large, *interface, *microseconds, *mtu, *error,
                         textAt(json, "answered_by").value_or("")}};
}

} // namespace

std::string networkPath(const std::string& stateDir) {
    return stateDir + "/network.json";
}

std::string toJson(const NetworkMatrix& matrix) {
    Json nodes = Json::array(), trials = Json::array();
    for (const NetworkNode& node : matrix.nodes)
        nodes.push_back(nodeJson(node));
    for (const NetworkTrial& trial : matrix.trials)
        trials.push_back(trialJson(trial));
    return dumpJson({{"version", kNetworkVersion},
                     {"measured_ns", matrix.measuredNs},
                     {"optional_port", matrix.optionalPort},
                     {"nodes", std::move(nodes)},
                     {"trials", std::move(trials)}});
}

Result<NetworkMatrix> parseNetworkMatrix(const std::string& text, const std::string& source) {
    const auto bad = [&source] {
        return fail(ErrorCode::kCorrupt, say("network.no-measurement", {{"file", source}}));
    };
    const auto parsed = parseJson(text, source);
    if (!parsed)
        return bad();
    const Json& json = *parsed;
    const auto version = intAt(json, "version"), measuredNs = intAt(json, "measured_ns");
    const Json* nodes = arrayAt(json, "nodes");
    const Json* trials = arrayAt(json, "trials");
    if (version && *version > kNetworkVersion)
        return fail(ErrorCode::kTooNew, say("network.of-later-release", {{"file", source}}));
    if (!version || !measuredNs || !nodes || !trials || nodes->size() > kMostNodes)
        return bad();
    NetworkMatrix matrix;
    matrix.measuredNs = *measuredNs;
    // Earlier releases dialed this one, and did not write so.
    matrix.optionalPort = intAt(json, "optional_port").value_or(kMeasuredPort);
    for (const Json& item : *nodes) {
        auto node = nodeFrom(item);
        if (!node)
            return bad();
        matrix.nodes.push_back(std::move(*node));
    }
    for (const Json& item : *trials) {
        auto trial = trialFrom(item, matrix.nodes.size());
        if (!trial)
            return bad();
        matrix.trials.push_back(std::move(*trial));
    }
    return matrix;
}

Result<void> keepNetwork(const std::string& stateDir, const NetworkMatrix& matrix) {
    RM_RETURN_IF_ERROR(makePrivateFolder(stateDir));
    RM_RETURN_IF_ERROR(writeFileAtomically(networkPath(stateDir), toJson(matrix) + "\n"));
    protectFile(networkPath(stateDir));
    return {};
}

Result<NetworkMatrix> keptNetwork(const std::string& stateDir) {
    const std::string path = networkPath(stateDir);
    if (!std::filesystem::exists(path))
        return fail(ErrorCode::kNotFound, say("network.not-measured", {{"file", path}}));
    return readFile(path).and_then(
        [&path](const std::string& text) { return parseNetworkMatrix(text, path); });
}

NetworkMatrix lastNetwork(const std::string& stateDir) {
    return keptNetwork(stateDir).value_or(NetworkMatrix());
}

} // namespace rm
