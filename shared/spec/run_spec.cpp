// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/run_spec.h"

#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"

namespace rm {

namespace {

constexpr size_t kMaxSpecFile = 1 << 20;

std::vector<TomlField> fieldsOf(RunSpec& spec) {
    std::vector<TomlField> fields;
    for (const SchemaRow& field : schemaRows())
        fields.push_back({field.key, field.ref(spec), field.aliases});
    return fields;
}

} // namespace

Result<RunSpec> parseRunSpec(std::string_view toml, std::string_view source) {
    RunSpec spec;
    RM_RETURN_IF_ERROR(readTomlFields(toml, source, fieldsOf(spec)));
    return spec;
}

Result<RunSpec> loadRunSpec(const std::string& path) {
    RM_ASSIGN_OR_RETURN(auto text, readFile(path, kMaxSpecFile));
    if (text.empty()) // what a crash or a full disk leaves is no wish for the defaults
        return fail(ErrorCode::kCorrupt, "read " + path +
                                             ": the file is empty, so that what was set is lost; "
                                             "bring back a copy of it");
    return parseRunSpec(text, path);
}

std::string toToml(const RunSpec& spec) {
    RunSpec copy = spec;
    return writeTomlFields(fieldsOf(copy));
}

} // namespace rm
