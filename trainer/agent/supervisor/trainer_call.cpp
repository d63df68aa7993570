// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/supervisor/trainer_call.h"

#include "shared/io/json.h"
#include "shared/return_if_error.h"
#include "trainer/agent/posix/fd.h"
#include "trainer/agent/supervisor/rank_environment.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>

namespace rm {

namespace {

/// A pipe would hold only so much before somebody reads it.
Result<void> becomeStdin(const std::string& text) {
    const std::string attempt = "hand the trainer its input";
    const Descriptor file(::memfd_create("input", MFD_CLOEXEC));
    if (!file)
        return failErrno(attempt, errno);
    RM_RETURN_IF_ERROR(writeText(file.get(), text, attempt));
    if (::lseek(file.get(), 0, SEEK_SET) != 0 || ::dup2(file.get(), STDIN_FILENO) < 0)
        return failErrno(attempt, errno);
    return {};
}

} // namespace

Result<void> becomeTrainer(std::vector<std::string> words, const std::string& order) {
    RM_ASSIGN_OR_RETURN(const Json value, parseJson(order, "the order to run the trainer"));
    const auto planToml = textAt(value, "plan"), input = textAt(value, "input");
    if (!planToml || !input)
        return fail(ErrorCode::kInvalid, "run the trainer: stdin must be {\"plan\", \"input\"}");
    RM_ASSIGN_OR_RETURN(const NodePlan plan, parseNodePlan(*planToml, "plan.toml"));
    RM_RETURN_IF_ERROR(becomeStdin(*input));
    const Environment environment = nodeEnvironment(currentEnvironment(), plan);
    ::clearenv();
    for (const auto& [name, text] : environment)
        ::setenv(name.c_str(), text.c_str(), /*overwrite=*/1);
    ::signal(SIGPIPE, SIG_DFL); // a program that is started inherits that it is ignored
    words.insert(words.begin(), plan.bundle + "/bin/ringmaster-trainer");
    std::vector<char*> arguments;
    for (std::string& word : words)
        arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::execv(arguments.front(), arguments.data());
    return failErrno("start " + words.front(), errno);
}

} // namespace rm
