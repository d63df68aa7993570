// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json.h"
#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <initializer_list>
#include <string>

namespace rm {

/// Reads a Hugging Face config.json and collects everything that our models do not support.
class ForeignConfig {
public:
    ForeignConfig(const Json& json, std::string source)
        : m_json(json)
        , m_source(std::move(source)) {}

    /// The number `key`; 0, and noted as wrong, if there is none.
    int64_t number(const char* key);
    int64_t number(const char* key, int64_t ifAbsent) const;
    double real(const char* key, double ifAbsent) const;
    bool isTrue(const char* key) const;

    /// Notes `what` as unsupported unless the condition holds.
    void demand(bool holds, const std::string& what);
    /// Checks a string that, if present, must be one of these; the first is ours.
    void demandText(const char* key, std::initializer_list<const char*> allowed);

    /// The whole document, for values of another form.
    const Json& json() const { return m_json; }
    const std::string& source() const { return m_source; }

    /// kInvalid with all that was noted.
    Result<void> outcome() const;

private:
    const Json& m_json;
    std::string m_source;
    std::string m_wrong;
};

/// `spec` with the model that a Hugging Face config.json describes, if some Workload has its
/// configType(). kInvalid names `source` and everything that our models do not support.
Result<RunSpec> specOfConfig(const std::string& config, RunSpec spec, const std::string& source);

} // namespace rm
