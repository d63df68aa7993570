// SPDX-License-Identifier: Apache-2.0
#include "trainer/agent/verbs.h"

#include "shared/wire/messages.h"
#include "trainer/agent/attach/attach.h"
#include "trainer/agent/folders.h"
#include "trainer/agent/posix/fd.h"
#include "trainer/agent/probe/probe.h"
#include "trainer/agent/release.h"
#include "trainer/agent/supervisor/start.h"

#include <unistd.h>

#include <functional>
#include <map>

namespace rm {

namespace {

using Arguments = std::vector<std::string>;
constexpr size_t kMaxOrder = 4 << 20;

Result<void> print(const Result<std::string>& text) {
    if (!text)
        return tl::unexpected(text.error());
    return writeText(STDOUT_FILENO, *text, "stdout");
}

Result<void> version(const Arguments&) {
    return print("ringmaster-agent " + std::string(kRelease) + " wire " +
                 std::to_string(kWireVersion) + "\n");
}

Result<void> probe(const Arguments&) {
    return print(probeNode(Folders::fromEnvironment(), SysRoot{}, *openNvmlGpus()));
}

Result<void> start(const Arguments& arguments) {
    const Result<std::string> order = readToEnd(STDIN_FILENO, kMaxOrder, "stdin");
    if (!order)
        return tl::unexpected(order.error());
    return print(startRun(Folders::fromEnvironment(), arguments[0], *order));
}

Result<void> attach(const Arguments& arguments) {
    return attachRun(Folders::fromEnvironment(), arguments[0]);
}

struct Verb {
    size_t least, most; ///< arguments
    const char* usage;
    Result<void> (*run)(const Arguments&);
};

const std::map<std::string, Verb>& verbs() {
    static const std::map<std::string, Verb> table = {
        {"--version", {0, 0, "--version", version}},
        {"probe", {0, 0, "probe", probe}},
        {"start", {1, 1, "start RUN_ID < {\"spec\", \"plan\"}", start}},
        {"attach", {1, 1, "attach RUN_ID", attach}},
    };
    return table;
}

std::string usage() {
    std::string text = "usage: ringmaster-agent";
    for (const auto& [name, verb] : verbs())
        text += std::string(name == verbs().begin()->first ? " " : " | ") + verb.usage;
    return text;
}

} // namespace

Result<void> runVerb(const Arguments& arguments) {
    const auto verb = arguments.empty() ? verbs().end() : verbs().find(arguments[0]);
    if (verb == verbs().end())
        return fail(ErrorCode::kInvalid, usage());
    const Arguments rest(arguments.begin() + 1, arguments.end());
    if (rest.size() < verb->second.least || rest.size() > verb->second.most)
        return fail(ErrorCode::kInvalid,
                    std::string("usage: ringmaster-agent ") + verb->second.usage);
    return verb->second.run(rest);
}

} // namespace rm
