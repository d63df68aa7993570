// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/io/json.h"
#include "shared/result.h"
#include "shared/spec/run_spec.h"

#include <initializer_list>
#include <string>

namespace rm {

/// A Hugging Face config.json that is being read, and all that our models cannot be of it.
class ForeignConfig {
public:
    ForeignConfig(const Json& json, std::string source)
        : m_json(json)
        , m_source(std::move(source)) {}

    /// 0, and noted as wrong, where there is no such number.
    int64_t number(const char* key);
    int64_t number(const char* key, int64_t ifAbsent) const;
    double real(const char* key, double ifAbsent) const;
    bool isTrue(const char* key) const;

    /// Notes `what` unless it holds.
    void demand(bool holds, const std::string& what);
    /// Of a text that, when it is there, must be one of these; ours is the first.
    void demandText(const char* key, std::initializer_list<const char*> allowed);

    /// All of it, for what has another form.
    const Json& json() const { return m_json; }
    const std::string& source() const { return m_source; }

    /// kInvalid with all that was noted.
    Result<void> outcome() const;

private:
    const Json& m_json;
    std::string m_source;
    std::string m_wrong;
};

/// A spec for what a Hugging Face config.json describes (that of a Workload with its configType()),
/// everything else as it stands in `spec`. kInvalid names `source` and what it asks for that our
/// models do not have.
Result<RunSpec> specOfConfig(const std::string& config, RunSpec spec, const std::string& source);

} // namespace rm
