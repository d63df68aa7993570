// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/run/run_folders.h"

#include "shared/return_if_error.h"

namespace rm {

namespace {

/// Of each node what its agent says, in their order.
std::vector<Result<RunFolder>> order(const ProcedureContext& context, const QString& run,
                                     const std::vector<PlacedParty>& nodes, FolderOrder what,
                                     const std::stop_token& unwanted) {
    std::vector<std::future<Result<RunFolder>>> asked;
    for (const PlacedParty& party : nodes)
        asked.push_back(
            context.hosts->worker(party.node)
                ->post<RunFolder>(
                    [id = run.toStdString(), what](HostSession& session, const std::string& agent,
                                                   std::stop_token stop) {
                        return runFolderOnNode(session, agent, id, what, stop);
                    },
                    unwanted));
    std::vector<Result<RunFolder>> answers;
    for (size_t at = 0; at < nodes.size(); ++at) {
        answers.push_back(asked[at].get());
        if (answers.back())
            answers.back()->node = nodes[at].node.name;
    }
    return answers;
}

} // namespace

Result<std::vector<RunFolder>> readRunFolders(const ProcedureContext& context, const QString& run,
                                              const PlacesToClean& places,
                                              std::stop_token unwanted) {
    std::vector<RunFolder> folders;
    for (auto& answer : order(context, run, places.nodes, FolderOrder::kPreview, unwanted)) {
        const size_t at = folders.size();
        if (!answer && at < places.needed)
            return tl::unexpected(answer.error());
        RunFolder unknown;
        unknown.node = places.nodes[at].node.name;
        unknown.problem = answer ? "" : answer.error().message;
        folders.push_back(answer ? std::move(*answer) : std::move(unknown));
    }
    for (const std::string& node : places.forgotten) {
        RunFolder unknown;
        unknown.node = node;
        unknown.problem = "it is not in the list of nodes any more";
        folders.push_back(std::move(unknown));
    }
    return folders;
}

Result<void> removeRunFolders(const ProcedureContext& context, const QString& run,
                              const PlacesToClean& places, std::stop_token unwanted) {
    Result<void> done;
    const std::vector<PlacedParty>& nodes = places.nodes;
    const auto answers = order(context, run, nodes, FolderOrder::kRemove, unwanted);
    for (size_t at = 0; at < answers.size(); ++at) {
        const auto& answer = answers[at];
        const auto noted = answer.and_then([&](const RunFolder& folder) {
            return context.writer->call([&](StoreWriter& writer) {
                return writer.setFolderRemoved(run, nodes[at].node.name, folder.path);
            });
        });
        if (!noted && done)
            done = failAs("clean " + nodes[at].node.name, noted.error());
        else if (!noted)
            done.error().message += "; clean " + nodes[at].node.name + ": " + noted.error().message;
    }
    context.changed(run);
    return done;
}

} // namespace rm
