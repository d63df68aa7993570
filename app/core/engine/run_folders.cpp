// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/engine/run_folders.h"

#include "app/core/findings/text.h"
#include "app/core/follow/read_rest.h"
#include "app/core/store/store_reader.h"
#include "app/core/store/store_writer.h"
#include "shared/return_if_error.h"

#include <algorithm>
#include <map>

namespace rm {

namespace {

/// What the agent of each node says of the run's folder, in the order of `nodes`.
std::vector<Result<RunFolder>> order(const ProcedureContext& context, const QString& run,
                                     const std::vector<PlacedParty>& nodes, FolderOrder what,
                                     const std::stop_token& unwanted) {
    std::vector<std::future<Result<RunFolder>>> pending;
    for (const PlacedParty& party : nodes)
        pending.push_back(
            context.hosts->worker(party.node)
                ->ask<RunFolder>(
                    [id = run.toStdString(), what](HostSession& session, const std::string& agent,
                                                   std::stop_token stop) {
                        return runFolderOnNode(session, agent, id, what, stop);
                    },
                    unwanted));
    std::vector<Result<RunFolder>> answers;
    for (size_t at = 0; at < nodes.size(); ++at) {
        answers.push_back(pending[at].get());
        if (answers.back())
            answers.back()->node = nodes[at].node.name;
    }
    return answers;
}

/// Counts what is in a folder that nodes share for the first of them alone.
void countOnce(std::vector<Result<RunFolder>>& folders) {
    std::map<std::string, std::string> firsts;
    for (auto& folder : folders) {
        if (!folder || folder->stateId.empty())
            continue;
        const auto [first, isFirst] = firsts.try_emplace(folder->stateId, folder->node);
        if (isFirst)
            continue;
        folder->sameAs = first->second;
        folder->bytes = folder->checkpoints = 0;
        folder->named.clear();
    }
}

/// Adds to `done` why one of several nodes failed.
void note(Result<void>& done, const Error& why) {
    if (done)
        done = tl::unexpected(why);
    else
        append(done.error().message, why.message);
}

/// The nodes without those that were declared lost and have samples which nobody could read yet:
/// these samples may be of the living line.
std::vector<PlacedParty> allRead(const ProcedureContext& context, const QString& run,
                                 std::vector<PlacedParty> nodes, const std::stop_token& unwanted,
                                 Result<void>& done) {
    const auto reader = StoreReader::open(context.database);
    for (const DeclaredLostNode& each :
         reader ? (*reader)->declaredLost(run) : std::vector<DeclaredLostNode>())
        std::erase_if(nodes, [&](const PlacedParty& party) {
            if (party.node.name != each.node)
                return false;
            const auto ended = endDeclaredLost(context, party.node, each, unwanted);
            if (!ended)
                note(done,
                     failAs(say("engine.clean-lost-node", {{"node", each.node}}), ended.error())
                         .value());
            return !ended;
        });
    return nodes;
}

} // namespace

Result<std::vector<RunFolder>> readRunFolders(const ProcedureContext& context, const QString& run,
                                              const PlacesToClean& places,
                                              std::stop_token unwanted) {
    std::vector<RunFolder> folders;
    auto answers = order(context, run, places.nodes, FolderOrder::kPreview, unwanted);
    countOnce(answers);
    for (auto& answer : answers) {
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
        unknown.problem = say("engine.not-listed-any-more");
        folders.push_back(std::move(unknown));
    }
    return folders;
}

namespace {

/// Notes what is gone after a removal that ended in the middle.
Result<void> noteGone(StoreWriter& writer, const QString& run, const std::string& node,
                      const RunFolder& before, const RunFolder& now) {
    for (const NamedFolder& named : before.named)
        if (std::ranges::find(now.named, named.path, &NamedFolder::path) == now.named.end())
            RM_RETURN_IF_ERROR(writer.setFolderRemoved(run, node, named.path));
    if (now.bytes == 0 && now.checkpoints == 0)
        return writer.setFolderRemoved(run, node, before.path);
    return {};
}

} // namespace

/// Looks before it removes: only then can be told which nodes share a folder, and what a removal
/// that ended in the middle took. Each node forgets a shared folder, though it is removed once.
Result<void> removeRunFolders(const ProcedureContext& context, const QString& run,
                              const PlacesToClean& places, std::stop_token unwanted) {
    Result<void> done;
    const std::vector<PlacedParty> nodes = allRead(context, run, places.nodes, unwanted, done);
    auto there = order(context, run, nodes, FolderOrder::kPreview, unwanted);
    countOnce(there);
    std::vector<PlacedParty> removing;
    for (size_t at = 0; at < nodes.size(); ++at)
        if (!there[at] || there[at]->sameAs.empty())
            removing.push_back(nodes[at]);
    std::map<std::string, Result<RunFolder>> removed;
    const auto answers = order(context, run, removing, FolderOrder::kRemove, unwanted);
    std::vector<PlacedParty> failed;
    for (size_t at = 0; at < answers.size(); ++at) {
        removed.emplace(removing[at].node.name, answers[at]);
        if (!answers[at])
            failed.push_back(removing[at]);
    }
    std::map<std::string, RunFolder> left; // where a removal ended in the middle
    for (const auto& now : order(context, run, failed, FolderOrder::kPreview, unwanted))
        if (now)
            left.emplace(now->node, *now);
    for (size_t at = 0; at < nodes.size(); ++at) {
        const std::string& name = nodes[at].node.name;
        const bool isShared = there[at] && !there[at]->sameAs.empty();
        const auto noted =
            removed.at(isShared ? there[at]->sameAs : name).and_then([&](const RunFolder& folder) {
                return context.writer->call([&](StoreWriter& writer) -> Result<void> {
                    for (const NamedFolder& named : folder.named)
                        if (named.staysAs.empty())
                            RM_RETURN_IF_ERROR(writer.setFolderRemoved(run, name, named.path));
                    return writer.setFolderRemoved(run, name,
                                                   isShared ? there[at]->path : folder.path);
                });
            });
        const auto rest = left.find(isShared ? there[at]->sameAs : name);
        if (rest != left.end() && there[at])
            (void)context.writer->call([&](StoreWriter& writer) {
                return noteGone(writer, run, name, *there[at], rest->second);
            });
        if (!noted && !isShared)
            note(done, failAs(say("engine.clean-node", {{"node", name}}), noted.error()).value());
    }
    context.changed(run);
    return done;
}

} // namespace rm
