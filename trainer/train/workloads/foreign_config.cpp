// SPDX-License-Identifier: Apache-2.0
#include "trainer/train/workloads/foreign_config.h"

#include "shared/return_if_error.h"
#include "trainer/train/workloads/registry.h"

namespace rm {
namespace {

const Workload* workloadFor(const std::string& configType) {
    for (const Workload* workload : workloads())
        if (!configType.empty() && workload->configType() == configType)
            return workload;
    return nullptr;
}

/// "gpt2 and marian"
std::string knownTypes() {
    std::vector<std::string_view> types;
    for (const Workload* workload : workloads())
        if (!workload->configType().empty())
            types.push_back(workload->configType());
    std::string text;
    for (size_t i = 0; i < types.size(); ++i) {
        const char* before = i == 0 ? "" : i + 1 == types.size() ? " and " : ", ";
        text.append(before).append(types[i]);
    }
    return text;
}

} // namespace

int64_t ForeignConfig::number(const char* key) {
    const auto value = intAt(m_json, key);
    demand(value.has_value(), "it has no " + std::string(key));
    return value.value_or(0);
}

int64_t ForeignConfig::number(const char* key, int64_t ifAbsent) const {
    return intAt(m_json, key).value_or(ifAbsent);
}

double ForeignConfig::real(const char* key, double ifAbsent) const {
    const auto at = m_json.find(key);
    return at != m_json.end() && at->is_number() ? at->get<double>() : ifAbsent;
}

bool ForeignConfig::isTrue(const char* key) const {
    return boolAt(m_json, key).value_or(false);
}

void ForeignConfig::demand(bool holds, const std::string& what) {
    if (!holds)
        m_wrong += (m_wrong.empty() ? "" : "; ") + what;
}

void ForeignConfig::demandText(const char* key, std::initializer_list<const char*> allowed) {
    const std::string text = textAt(m_json, key).value_or(*allowed.begin());
    bool known = false;
    for (const char* one : allowed)
        known = known || text == one;
    std::string words = key;
    words.append(" is \"").append(text).append("\", ours is \"").append(*allowed.begin());
    demand(known, words + "\"");
}

Result<void> ForeignConfig::outcome() const {
    if (m_wrong.empty())
        return {};
    return fail(ErrorCode::kInvalid, "import " + m_source + ": " + m_wrong);
}

Result<RunSpec> specOfConfig(const std::string& text, RunSpec spec, const std::string& source) {
    RM_ASSIGN_OR_RETURN(const auto json, parseJson(text, source));
    ForeignConfig config(json, source);
    const std::string type = textAt(json, "model_type").value_or("");
    if (const Workload* workload = workloadFor(type))
        workload->readConfig(config, spec.model);
    else
        config.demand(false, "its model_type is \"" + type + "\", we have " + knownTypes());
    RM_RETURN_IF_ERROR(config.outcome());
    return spec;
}

} // namespace rm
