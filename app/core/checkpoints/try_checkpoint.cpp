// SPDX-License-Identifier: GPL-3.0-or-later
#include "app/core/checkpoints/try_checkpoint.h"

#include "app/core/checkpoints/checkpoint_moves.h"
#include "app/core/checkpoints/find_checkpoint.h"
#include "app/core/findings/text.h"
#include "app/core/launch/direct_launcher.h"
#include "app/core/store/run_summary.h"
#include "app/core/store/store_reader.h"
#include "shared/io/file.h"
#include "shared/return_if_error.h"
#include "shared/spec/model_family.h"

#include <QByteArray>

namespace rm {

namespace {

using namespace std::chrono_literals;

/// Enough to read large weights from a slow disk and to answer on a few threads.
constexpr std::chrono::milliseconds kTryPatience = 10min;
constexpr size_t kMostPicture = 16u << 20;
constexpr size_t kMostPrompt = 65536;

/// What the model gets, as the trainer takes it from its standard input.
struct Input {
    std::vector<std::string> words;
    std::string text;
};

Result<Input> inputOf(const TryOrder& order, DataKind data) {
    const std::string path = order.file.toStdString();
    if (path.empty())
        return order.text.toStdString().size() > kMostPrompt
                   ? Result<Input>(fail(ErrorCode::kInvalid, say("try.long-text")))
                   : Input{{"--file", "-"}, order.text.toStdString()};
    const bool isPicture = data == DataKind::kPictures;
    RM_ASSIGN_OR_RETURN(const auto bytes, readFile(path, isPicture ? kMostPicture : kMostPrompt));
    if (!isPicture)
        return Input{{"--file", "-"}, std::string(bytes.begin(), bytes.end())};
    const QByteArray raw(bytes.data(), static_cast<qsizetype>(bytes.size()));
    return Input{{"--picture", "-", "--base64"}, raw.toBase64().toStdString()};
}

template <class T>
void addWord(std::vector<std::string>& words, const char* name, const std::optional<T>& value) {
    if (!value)
        return;
    words.emplace_back(name);
    words.push_back(QString::number(*value).toStdString());
}

std::vector<std::string> wordsOf(const TryOrder& order, const std::string& folder) {
    std::vector<std::string> words{"try", folder};
    addWord(words, "--max-tokens", order.maxTokens);
    addWord(words, "--temperature", order.temperature);
    addWord(words, "--top-k", order.topK);
    addWord(words, "--beams", order.beams);
    addWord(words, "--seed", order.seed);
    return words;
}

/// The spec of the run as it is placed on one node for a trial.
Result<RunSpec> specToTry(StoreReader& reader, const QString& run) {
    RM_ASSIGN_OR_RETURN(auto spec, parseRunSpec(reader.specToml(run), run.toStdString()));
    spec.train.globalBatch = spec.launch.minNodes = 0;
    spec.train.rankBatchSizes.clear();
    return spec;
}

/// How the answer was computed beside runs that train there; empty: there are none.
std::string besideWords(const QStringList& live, const std::string& node) {
    if (live.isEmpty())
        return {};
    return say("try.beside", {{"run", live.front().toStdString()}, {"node", node}});
}

} // namespace

QString tryName(const QString& id) {
    return "try: " + id;
}

Result<TriedCheckpoint> tryCheckpoint(const ProcedureContext& context, const QString& run,
                                      const std::string& which, const TryOrder& order,
                                      const ProgressSink& progress, std::stop_token stop) {
    RM_ASSIGN_OR_RETURN(const auto reader, StoreReader::open(context.database));
    RM_ASSIGN_OR_RETURN(const auto checkpoint, findCheckpoint(*reader, run, which));
    const std::string attempt = say("try.attempt", {{"step", std::to_string(checkpoint.saved.step)},
                                                    {"run", run.toStdString()}});
    RM_ASSIGN_OR_RETURN(auto spec, specToTry(*reader, run));
    const auto input = inputOf(order, familyOf(spec).data);
    if (!input)
        return failAs(attempt, input.error());
    const auto lies = whereItLies(context, run, checkpoint, stop);
    if (!lies)
        return failAs(attempt, lies.error());
    if (lies->node.isSlurm)
        return failAs(attempt, {ErrorCode::kInvalid,
                                say("launch.trial-of-cluster", {{"node", lies->node.name}})});
    const QStringList live = liveRunsOn(reader->runs(), lies->node.name);
    PlanRequest placed;
    placed.runId = newRunId("try");
    placed.runName = "try";
    placed.startFrom = lies->folder;
    DirectLauncher launcher({std::move(spec), {{lies->node, 1}}, placed, false, say("try.purpose")},
                            *context.hosts, progress, stop);
    const auto done = launcher.check().and_then([&](const auto&) { return launcher.deploy(); });
    if (!done)
        return failAs(attempt, done.error());
    const auto callOf = [&](const NodePlan& plan) {
        auto words = wordsOf(order, lies->folder);
        const bool isOnCpu = order.onCpu || !live.isEmpty();
        words.insert(words.end(), {"--device", isOnCpu ? "cpu" : plan.device});
        if (!live.isEmpty())
            words.emplace_back("--background");
        words.insert(words.end(), input->words.begin(), input->words.end());
        return TrainerCall{std::move(words), input->text};
    };
    const auto answers = launcher.runTrainer(callOf, kTryPatience);
    const auto answer = answers.and_then([](const std::vector<std::string>& all) {
        return parseTryAnswer(all.front(), "the answer of the checkpoint");
    });
    if (!answer)
        return failAs(attempt, answer.error());
    return TriedCheckpoint{*answer, lies->node.name, besideWords(live, lies->node.name)};
}

} // namespace rm
