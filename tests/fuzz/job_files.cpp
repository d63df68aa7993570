// SPDX-License-Identifier: Apache-2.0
#include "shared/io/file.h"
#include "tests/fuzz/fuzz.h"
#include "trainer/agent/slurm/job_file.h"
#include "trainer/agent/slurm/part_files.h"

#include <unistd.h>

#include <filesystem>
#include <string>

using namespace rm;

namespace {

struct Folder {
    std::string path =
        std::filesystem::temp_directory_path() / ("ringmaster-fuzz-" + std::to_string(::getpid()));
    Folder() { std::filesystem::create_directories(path + "/relay"); }
    ~Folder() { std::filesystem::remove_all(path); }
};

} // namespace

/// What a job and those who attach elsewhere leave each other in the run's folder: job.json, and
/// the messages of relay/, which are gone once they are read.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    static const Folder folder;
    const std::string text(fuzz::text(data, size));
    for (const char* name : {"/job.json", "/relay/state", "/relay/command-a", "/relay/answer-a"})
        RM_HOLDS(writeFileAtomically(folder.path + name, text).has_value());
    const auto job = loadJobFile(folder.path);
    RM_HOLDS(job || job.error().code == ErrorCode::kCorrupt);
    if (job) {
        RM_HOLDS(saveJobFile(folder.path, **job).has_value());
        const auto again = loadJobFile(folder.path);
        RM_HOLDS(again && *again == *job);
    }
    const PartFiles files(folder.path);
    const auto commands = files.takeCommands();
    const auto answers = files.takeAnswers();
    RM_HOLDS(commands.size() + answers.size() + (files.state() ? 1 : 0) <= 1);
    RM_HOLDS(files.takeCommands().empty() && files.takeAnswers().empty());
    return 0;
}
