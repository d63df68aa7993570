// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/network/network_file.h"

#include "app/core/findings/text.h"
#include "app/core/settings/private_files.h"
#include "shared/io/file.h"
#include "shared/io/json_fields.h"
#include "shared/wire/network_fields.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <utility>

namespace rm {

namespace {

constexpr int64_t kNetworkVersion = 2; ///< 1: without "answered_by"
constexpr size_t kMostNodes = 1024;

/// The ports of a measurement; its token says nothing later.
template <class Ports>
struct KeptPorts {
    Ports& of;
};

template <class Ports, class Visit>
void fields(const KeptPorts<Ports>& ports, Visit&& visit) {
    portFields(ports.of, visit);
}

} // namespace

template <Either<NetworkNode> T, class Visit>
void fields(T& node, Visit&& visit) {
    visit("name", node.name);
    visit("addresses", node.addresses);
    visit("problem", node.problem);
    if (node.problem.empty())
        visit("ports", KeptPorts<std::remove_reference_t<decltype((node.ports))>>{node.ports});
}

template <Either<NetworkTrial> T, class Visit>
void fields(T& trial, Visit&& visit) {
    visit("from", trial.from);
    visit("to", trial.to);
    visit("by", trial.by);
    visit("address", trial.address);
    visit("port", trial.port);
    fields(trial.answer, visit);
}

template <Either<NetworkMatrix> T, class Visit>
void fields(T& matrix, Visit&& visit) {
    visit("measured_ns", matrix.measuredNs);
    visit("optional_port", matrix.optionalPort, kOptional);
    visit("nodes", matrix.nodes, upTo(kMostNodes));
    visit("trials", matrix.trials);
}

namespace {

/// Its nodes are nodes of the matrix.
bool isWithin(const NetworkTrial& trial, size_t nodes) {
    const auto isNode = [nodes](int64_t index) {
        return index >= 0 && std::cmp_less(index, nodes);
    };
    return isNode(trial.from) && isNode(trial.to) && trial.from != trial.to;
}

bool areAddressesSound(const NetworkNode& node) {
    return std::ranges::all_of(node.addresses, [](const InterfaceReport& at) {
        return !at.name.empty() && !at.address.empty() && at.prefix >= 0 && at.prefix <= 128 &&
               at.speedMbit >= -1;
    });
}

} // namespace

std::string networkPath(const std::string& stateDir) {
    return stateDir + "/network.json";
}

std::string toJson(const NetworkMatrix& matrix) {
    Json json = writeFields(matrix);
    json["version"] = kNetworkVersion;
    return dumpJson(json);
}

Result<NetworkMatrix> parseNetworkMatrix(const std::string& text, const std::string& source) {
    const auto bad = [&source] {
        return fail(ErrorCode::kCorrupt, say("network.no-measurement", {{"file", source}}));
    };
    const auto json = parseJson(text, source);
    const auto version = json ? intAt(*json, "version") : std::nullopt;
    if (version && *version > kNetworkVersion)
        return fail(ErrorCode::kTooNew, say("network.of-later-release", {{"file", source}}));
    if (!version)
        return bad();
    NetworkMatrix matrix;
    matrix.optionalPort = kMeasuredPort; // earlier releases dialed this one, and did not write so
    const bool isWhole = readFields(*json, matrix).empty() &&
                         std::ranges::all_of(matrix.nodes, areAddressesSound) &&
                         std::ranges::all_of(matrix.trials, [&matrix](const NetworkTrial& trial) {
                             return isWithin(trial, matrix.nodes.size());
                         });
    if (!isWhole)
        return bad();
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
