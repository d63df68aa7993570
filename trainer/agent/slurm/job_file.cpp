// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/slurm/job_file.h"

#include "shared/io/file.h"
#include "shared/io/json.h"
#include "shared/return_if_error.h"

#include <algorithm>

namespace rm {

namespace {

std::string jobPath(const std::string& runFolder) {
    return runFolder + "/job.json";
}

} // namespace

Result<void> saveJobFile(const std::string& runFolder, const JobFile& job) {
    return writeFileAtomically(
        jobPath(runFolder),
        dumpJson({{"id", job.id}, {"attempt", job.attempt}, {"asked_ns", job.requestedNs}}) + "\n");
}

Result<std::optional<JobFile>> loadJobFile(const std::string& runFolder) {
    const Result<std::string> text = readFile(jobPath(runFolder), 1 << 16);
    if (!text)
        return text.error().code == ErrorCode::kNotFound ? Result<std::optional<JobFile>>()
                                                         : tl::unexpected(text.error());
    RM_ASSIGN_OR_RETURN(const Json json, parseJson(*text, jobPath(runFolder)));
    const auto id = textAt(json, "id");
    const auto attempt = intAt(json, "attempt");
    const bool isNumber =
        id && std::ranges::all_of(*id, [](char c) { return c >= '0' && c <= '9'; });
    if (!isNumber || !attempt)
        return fail(ErrorCode::kCorrupt, "read " + jobPath(runFolder) + ": it names no job");
    return JobFile{*id, *attempt, intAt(json, "asked_ns").value_or(0)};
}

std::string jobName(const std::string& runFolder, int64_t attempt) {
    return runFolder.substr(runFolder.rfind('/') + 1) + "." + std::to_string(attempt);
}

std::string runFolderOf(const std::string& partDir) {
    return partDir.substr(0, partDir.rfind('/'));
}

} // namespace rm
