// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/cli/commands.h"
#include "app/cli/json_view.h"
#include "app/cli/run_text.h"
#include "app/cli/session.h"
#include "app/cli/terminal.h"
#include "app/core/store/run_metrics.h"

#include <fstream>
#include <iostream>

namespace rm::cli {

namespace {

std::string lossText(const std::optional<double>& loss) {
    return loss ? formatNumber(*loss) : "-";
}

std::string nodesText(const RunSummary& run) {
    std::string text;
    for (const RunNode& node : run.nodes)
        text += (text.empty() ? "" : ", ") + node.nodeName + ":" + std::to_string(node.ranks);
    return text;
}

std::vector<std::string> row(const RunSummary& run) {
    return {run.id.toStdString(),
            runStateName(run.state),
            std::to_string(run.step) + "/" + std::to_string(run.totalSteps),
            lossText(run.loss),
            lossText(run.validationLoss),
            nodesText(run),
            formatAgo(run.createdNs)};
}

template <class T>
nlohmann::ordered_json arrayOf(const std::vector<T>& items) {
    auto out = nlohmann::ordered_json::array();
    for (const T& item : items)
        out.push_back(toJson(item));
    return out;
}

std::vector<StoredCheckpoint> present(std::vector<StoredCheckpoint> checkpoints) {
    std::erase_if(checkpoints, [](const StoredCheckpoint& c) { return c.removed; });
    return checkpoints;
}

/// A run as its nodes tell of it now, and what is stored of it.
struct ReadRun {
    RunSummary summary;
    std::unique_ptr<StoreReader> reader;
};

Result<ReadRun> readRun(Session& session, const std::string& id) {
    auto run = session.caughtUp(id);
    if (!run)
        return tl::unexpected(run.error());
    auto reader = session.reader();
    if (!reader)
        return tl::unexpected(reader.error());
    return ReadRun{std::move(*run), std::move(*reader)};
}

std::vector<std::string> row(const StoredCheckpoint& checkpoint) {
    const CheckpointSaved& saved = checkpoint.saved;
    const bool validated = saved.validationLoss == saved.validationLoss;
    return {std::to_string(saved.step),
            validated ? formatNumber(saved.validationLoss) : "-",
            formatBytes(static_cast<double>(saved.bytes)),
            oneLine(saved.reason) + (saved.best ? ", best" : ""),
            formatAgo(saved.wallNs),
            oneLine(saved.path)};
}

void printShow(const RunSummary& run, StoreReader& reader) {
    std::cout << run.id.toStdString() << "  " << runStateName(run.state) << "\n"
              << "  step        " << run.step << " of " << run.totalSteps << ", attempt "
              << run.attempt << "\n"
              << "  loss        " << lossText(run.loss) << ", best validation "
              << lossText(run.validationLoss)
              << lastFigures(reader, run.id, validationMetrics(reader, run.id)) << "\n"
              << "  nodes       " << nodesText(run) << "\n"
              << "  created     " << formatAgo(run.createdNs) << "\n"
              << "  checkpoints " << present(reader.checkpoints(run.id)).size() << "\n";
    if (!run.parentRun.isEmpty())
        std::cout << "  branch of   " << run.parentRun.toStdString() << " at step "
                  << run.parentStep << "\n";
    if (!run.message.isEmpty())
        std::cout << "  message     " << oneLine(run.message.toStdString()) << "\n";
    for (const StoredRank& rank : reader.ranks(run.id)) {
        std::cout << "  rank " << rank.rank << "      step " << rank.step;
        if (rank.exited)
            std::cout << ", " << oneLine(rank.exited->message);
        std::cout << "\n";
    }
}

} // namespace

int runRuns(Session& session) {
    session.catchUp();
    const auto reader = session.reader();
    if (!reader)
        return printError(session, reader.error());
    const auto runs = (*reader)->runs();
    if (session.json()) {
        printJson(arrayOf(runs));
        return 0;
    }
    if (runs.empty()) {
        std::cout << "No runs yet. Try: ringmaster run gpt-tiny --node this-computer:2 --wait"
                  << std::endl;
        return 0;
    }
    std::vector<std::vector<std::string>> rows = {
        {"RUN", "STATE", "STEP", "LOSS", "VALIDATION", "NODES", "CREATED"}};
    for (const RunSummary& run : runs)
        rows.push_back(row(run));
    std::cout << formatTable(rows) << std::flush;
    return 0;
}

int runShow(Session& session, const std::string& id) {
    const auto read = readRun(session, id);
    if (!read)
        return printError(session, read.error());
    const RunSummary& run = read->summary;
    StoreReader& reader = *read->reader;
    if (!session.json()) {
        printShow(run, reader);
        return 0;
    }
    auto out = toJson(run);
    out["attempts"] = arrayOf(reader.attempts(run.id));
    out["rank_states"] = arrayOf(reader.ranks(run.id));
    out["events"] = arrayOf(reader.events(run.id));
    out["checkpoints"] = arrayOf(present(reader.checkpoints(run.id)));
    out["spec"] = reader.specToml(run.id);
    printJson(out);
    return 0;
}

int runCheckpoints(Session& session, const std::string& id) {
    const auto read = readRun(session, id);
    if (!read)
        return printError(session, read.error());
    const auto checkpoints = present(read->reader->checkpoints(read->summary.id));
    if (session.json()) {
        printJson(arrayOf(checkpoints));
        return 0;
    }
    std::vector<std::vector<std::string>> rows = {
        {"STEP", "VALIDATION", "SIZE", "KEPT BECAUSE", "SAVED", "WHERE"}};
    for (const StoredCheckpoint& checkpoint : checkpoints)
        rows.push_back(row(checkpoint));
    std::cout << (checkpoints.empty() ? "No checkpoints yet.\n" : formatTable(rows)) << std::flush;
    return 0;
}

int runExport(Session& session, const std::string& id, const std::string& output) {
    if (session.json() && output.empty())
        return printError(session, {ErrorCode::kInvalid, "export " + id +
                                                             ": with --json name an --output: two "
                                                             "answers do not fit into one stream"});
    const auto read = readRun(session, id);
    if (!read)
        return printError(session, read.error());
    std::ofstream file;
    if (!output.empty())
        file.open(output);
    if (!output.empty() && !file)
        return printError(session, {ErrorCode::kDenied, "write " + output + ": cannot open it"});
    std::ostream& out = output.empty() ? std::cout : file;
    const auto rows = exportCsv(*read->reader, read->summary.id, out);
    out.flush();
    if (!rows)
        return printError(session, rows.error());
    if (!out)
        return printError(session, {ErrorCode::kExhausted,
                                    "write " + (output.empty() ? "standard output" : output) +
                                        ": not all was written"});
    if (session.json())
        printJson({{"run", read->summary.id.toStdString()}, {"rows", *rows}, {"output", output}});
    else if (!output.empty())
        std::cerr << *rows << " rows written to " << output << std::endl;
    return 0;
}

} // namespace rm::cli
