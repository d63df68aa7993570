// SPDX-License-Identifier: GPL-3.0-or-later
// What models made of their inputs: samples of validations, and checkpoints that are tried.
#include "app/cli/access.h"
#include "app/cli/command_context.h"
#include "app/cli/commands.h"
#include "app/cli/interruption.h"
#include "app/cli/json_view.h"
#include "app/cli/launch_lines.h"
#include "app/cli/terminal.h"
#include "app/core/checkpoints/try_checkpoint.h"
#include "app/core/compare/class_figures.h"
#include "app/core/compare/sample_rows.h"
#include "app/core/compare/word_diff.h"
#include "app/core/findings/text.h"
#include "app/core/store/step_samples.h"
#include "shared/return_if_error.h"
#include "shared/spec/schema.h"

#include <QDir>
#include <QUuid>

#include <cmath>
#include <iostream>

namespace rm::cli {

namespace {

using Json = nlohmann::ordered_json;
using TableRows = std::vector<std::vector<std::string>>;

struct SamplesOptions {
    std::string run;
    std::vector<int64_t> steps;
    std::string with; ///< another run
    bool confusion = false;
    bool list = false;
};

/// A validation of a run whose samples are shown.
struct SampleColumn {
    std::string title; ///< "step 500", "step 500 of gpt-2"
    std::string run;
    StepSample sample;
};

/// Why a run has no samples; empty: it has some, or may get some.
std::string whyNone(StoreReader& reader, const RunSummary& run) {
    const auto spec = parseRunSpec(reader.specToml(run.id), run.id.toStdString());
    if (!spec || writesSamples(*spec) || keepsPictures(*spec))
        return say("samples.none-yet", {{"run", run.id.toStdString()}});
    return say("samples.writes-none", {{"run", run.id.toStdString()}});
}

std::vector<StepSample> livingSamples(StoreReader& reader, const RunSummary& run) {
    auto samples = samplesByStep(reader.samples(run.id));
    std::erase_if(samples, [](const StepSample& sample) { return sample.retiredBy != 0; });
    return samples;
}

std::string stepsOf(const std::vector<StepSample>& samples) {
    std::vector<std::string> steps;
    for (const StepSample& sample : samples)
        steps.push_back(std::to_string(sample.step));
    return someOf(steps);
}

/// The samples at these steps, or the newest.
Result<std::vector<SampleColumn>> columnsOf(StoreReader& reader, const RunSummary& run,
                                            const std::vector<int64_t>& steps, bool isOther) {
    const auto samples = livingSamples(reader, run);
    const std::string id = run.id.toStdString();
    std::vector<SampleColumn> columns;
    const auto add = [&](const StepSample& sample) {
        const std::string step = "step " + std::to_string(sample.step);
        columns.push_back({isOther ? step + " of " + id : step, id, sample});
    };
    if (steps.empty() && !samples.empty())
        add(samples.front());
    for (const int64_t step : steps) {
        const auto at = std::ranges::find(samples, step, &StepSample::step);
        if (at == samples.end())
            return fail(
                ErrorCode::kNotFound,
                say("samples.no-step",
                    {{"run", id}, {"step", std::to_string(step)}, {"steps", stepsOf(samples)}}));
        add(*at);
    }
    return columns;
}

Json jsonOf(const SampleText& sample) {
    static constexpr const char* kKinds[] = {"text", "translation", "picture"};
    Json json = {{"kind", kKinds[static_cast<size_t>(sample.kind)]},
                 {"prompt", sample.prompt},
                 {"text", sample.text}};
    if (sample.kind != SampleKind::kText)
        json["reference"] = sample.reference;
    if (sample.kind != SampleKind::kText)
        json["score"] = std::isnan(sample.score) ? Json() : Json(sample.score);
    return json;
}

Json jsonOf(const SampleColumn& column) {
    Json samples = Json::array();
    for (const SampleText& sample : column.sample.parts)
        samples.push_back(jsonOf(sample));
    return {{"run", column.run},
            {"step", column.sample.step},
            {"attempt", column.sample.attempt},
            {"wall_ns", column.sample.wallNs},
            {"samples", samples}};
}

std::string pictureTable(const std::vector<SampleRow>& rows,
                         const std::vector<SampleColumn>& columns) {
    TableRows table{{"PICTURE", "IS"}};
    for (const SampleColumn& column : columns) {
        table.front().push_back(columns.size() == 1 ? "TAKEN FOR" : "AT " + column.title);
        table.front().emplace_back("CERTAINTY");
    }
    for (const SampleRow& row : rows) {
        table.push_back({oneLine(row.prompt), oneLine(row.reference)});
        for (const auto& sample : row.of) {
            table.back().push_back(sample ? oneLine(sample->text) : "-");
            table.back().push_back(sample ? scoreWords(*sample) : "-");
        }
    }
    return formatTable(table);
}

/// What a step gave, marked where the first column's differs.
std::string textOf(const SampleRow& row, size_t column, const std::string& title) {
    const auto& sample = row.of[column];
    const std::string score = sample ? scoreWords(*sample) : std::string();
    std::string text = "  " + title + (score.empty() ? "" : " (" + score + ")") + ": ";
    if (!sample)
        return text + "-\n";
    const bool isMarked = column > 0 && row.of.front();
    text += safeText(isMarked ? wdiffText(row.of.front()->text, sample->text) : sample->text);
    return text + (text.ends_with('\n') ? "" : "\n");
}

void printRows(const std::vector<SampleColumn>& columns) {
    std::vector<std::vector<SampleText>> parts;
    for (const SampleColumn& column : columns)
        parts.push_back(column.sample.parts);
    const auto rows = sampleRows(parts);
    const bool arePictures = !rows.empty() && rows.front().kind == SampleKind::kPicture;
    if (arePictures) {
        std::cout << pictureTable(rows, columns) << std::flush;
        return;
    }
    for (const SampleRow& row : rows) {
        const bool isTranslation = row.kind == SampleKind::kTranslation;
        std::cout << (isTranslation ? "source: " : "prompt: ") << safeText(row.prompt) << "\n";
        for (size_t column = 0; column < columns.size(); ++column)
            std::cout << textOf(row, column, columns[column].title);
        if (isTranslation)
            std::cout << "  reference: " << safeText(row.reference) << "\n";
        std::cout << "\n";
    }
    std::cout << std::flush;
}

std::string percent(double share) {
    return std::isnan(share) ? "-" : QString::number(100 * share, 'f', 1).toStdString() + " %";
}

/// The whole matrix where it fits on a terminal.
std::string matrixTable(const ConfusionMatrix& matrix) {
    constexpr size_t kMostColumns = 16;
    if (matrix.side() > kMostColumns)
        return {};
    TableRows table{{"IS \\ TAKEN FOR"}};
    for (size_t row = 0; row < matrix.side(); ++row)
        table.front().push_back(oneLine(rowName(matrix, row)));
    for (size_t row = 0; row < matrix.side(); ++row) {
        table.push_back({oneLine(rowName(matrix, row))});
        for (size_t column = 0; column < matrix.side(); ++column)
            table.back().push_back(std::to_string(matrix.at(row, column)));
    }
    return formatTable(table) + "\n";
}

std::string figuresTable(const ConfusionMatrix& matrix) {
    TableRows table{{"CLASS", "PICTURES", "RECALL", "PRECISION", "MOST OFTEN TAKEN FOR"}};
    for (const ClassFigures& each : classFigures(matrix))
        table.push_back({oneLine(each.name), std::to_string(each.pictures), percent(each.recall),
                         percent(each.precision),
                         each.confusions == 0 ? "-"
                                              : oneLine(each.confusedWith) + " (" +
                                                    std::to_string(each.confusions) + ")"});
    return formatTable(table);
}

Json jsonOf(const ConfusionMatrix& matrix) {
    Json counts = Json::array(), figures = Json::array();
    for (size_t row = 0; row < matrix.side(); ++row) {
        Json line = Json::array();
        for (size_t column = 0; column < matrix.side(); ++column)
            line.push_back(matrix.at(row, column));
        counts.push_back(line);
    }
    const auto known = [](double share) { return std::isnan(share) ? Json() : Json(share); };
    for (const ClassFigures& each : classFigures(matrix))
        figures.push_back({{"class", each.name},
                           {"pictures", each.pictures},
                           {"recall", known(each.recall)},
                           {"precision", known(each.precision)}});
    return {{"step", matrix.step},   {"classes", matrix.classes},
            {"names", matrix.names}, {"has_others", matrix.hasOthers()},
            {"counts", counts},      {"figures", figures}};
}

int printConfusion(const CommandContext& context, StoreReader& reader, const RunSummary& run,
                   const std::vector<int64_t>& steps) {
    auto all = reader.confusions(run.id);
    std::erase_if(all, [](const StoredConfusion& each) { return each.retiredBy != 0; });
    if (!steps.empty())
        std::erase_if(all, [&](const StoredConfusion& each) {
            return std::ranges::find(steps, each.matrix.step) == steps.end();
        });
    else if (!all.empty())
        all.resize(1);
    if (all.empty())
        return printError(context, {ErrorCode::kNotFound,
                                    say("samples.no-confusion", {{"run", run.id.toStdString()}})});
    Json out = Json::array();
    for (const StoredConfusion& each : all)
        if (context.json())
            out.push_back(jsonOf(each.matrix));
        else
            std::cout << "step " << each.matrix.step << "\n"
                      << matrixTable(each.matrix) << figuresTable(each.matrix);
    if (context.json())
        printJson(out);
    std::cout << std::flush;
    return 0;
}

int printList(const CommandContext& context, const std::vector<StepSample>& samples) {
    TableRows table{{"STEP", "ATTEMPT", "WHEN", "SAMPLES"}};
    Json out = Json::array();
    for (const StepSample& sample : samples) {
        table.push_back({std::to_string(sample.step), std::to_string(sample.attempt),
                         formatAgo(sample.wallNs), std::to_string(sample.parts.size())});
        out.push_back({{"step", sample.step},
                       {"attempt", sample.attempt},
                       {"wall_ns", sample.wallNs},
                       {"samples", sample.parts.size()}});
    }
    if (context.json())
        printJson(out);
    else
        std::cout << formatTable(table) << std::flush;
    return 0;
}

Result<std::vector<SampleColumn>> allColumns(CommandContext& context, StoreReader& reader,
                                             const RunSummary& run, const SamplesOptions& options) {
    RM_ASSIGN_OR_RETURN(auto columns, columnsOf(reader, run, options.steps, false));
    if (options.with.empty())
        return columns;
    RM_ASSIGN_OR_RETURN(const auto other, context.caughtUp(options.with));
    RM_ASSIGN_OR_RETURN(auto more, columnsOf(reader, other, options.steps, true));
    columns.insert(columns.end(), more.begin(), more.end());
    return columns;
}

int runSamples(CommandContext& context, const SamplesOptions& options) {
    const auto run = context.caughtUp(options.run);
    if (!run)
        return printError(context, run.error());
    const auto reader = context.reader();
    if (!reader)
        return printError(context, reader.error());
    if (options.confusion)
        return printConfusion(context, **reader, *run, options.steps);
    if (options.list)
        return printList(context, livingSamples(**reader, *run));
    const auto columns = allColumns(context, **reader, *run, options);
    if (!columns)
        return printError(context, columns.error());
    if (context.json()) {
        Json out = Json::array();
        for (const SampleColumn& column : *columns)
            out.push_back(jsonOf(column));
        printJson(out);
    } else if (columns->empty()) {
        std::cout << whyNone(**reader, *run) << std::endl;
    } else {
        if (columns->size() == 1)
            std::cout << "step " << columns->front().sample.step << ", "
                      << formatAgo(columns->front().sample.wallNs) << "\n\n";
        printRows(*columns);
    }
    return 0;
}

struct TryOptions {
    std::string run; ///< RUN[@CHECKPOINT]
    std::string text, file;
    TryOrder order;
};

Json jsonOf(const std::string& run, const TriedCheckpoint& tried) {
    Json json = Json::parse(toJson(tried.answer));
    json["run"] = run;
    json["node"] = tried.node;
    json["note"] = tried.note;
    return json;
}

void printTried(const TriedCheckpoint& tried, const std::string& prompt) {
    const TryAnswer& answer = tried.answer;
    if (!tried.note.empty())
        std::cerr << oneLine(tried.note) << std::endl;
    std::cerr << "step " << answer.step << " on " << oneLine(tried.node) << ", "
              << oneLine(answer.device) << ", " << formatNumber(answer.seconds) << " s"
              << std::endl;
    for (const TryAnswer::Class& each : answer.classes)
        std::cout << percent(each.probability) << "  " << oneLine(each.name) << "\n";
    if (answer.kind == TryKind::kText)
        std::cout << safeText(prompt);
    if (answer.kind != TryKind::kClasses)
        std::cout << safeText(answer.text) << "\n";
    std::cout << std::flush;
}

Result<TriedCheckpoint> awaitTried(CommandContext& context, const RunSummary& run,
                                   const TryCheckpointRequest& request,
                                   const Interruption& interruption) {
    const auto ask = [&] {
        return awaitShown(context, tryName(request.id), context.engine().ask(request), interruption,
                          [&] { context.engine().ask(StopTryRequest{request.id}); });
    };
    auto tried = ask();
    const bool isDenied = !tried && tried.error().code == ErrorCode::kDenied;
    if (isDenied && !interruption.isRequested() && openAsking(context, nodesOf(run)))
        tried = ask();
    if (!tried && interruption.isRequested())
        return failCancelled("try");
    return tried;
}

int runTry(CommandContext& context, const TryOptions& options) {
    const size_t at = options.run.rfind('@');
    const auto run = context.caughtUpOne(options.run.substr(0, at));
    if (!run)
        return printError(context, run.error());
    TryCheckpointRequest request{
        run->id, {}, options.order, QUuid::createUuid().toString(QUuid::Id128)};
    if (at != std::string::npos)
        request.checkpoint = QString::fromStdString(options.run.substr(at + 1));
    request.order.text = QString::fromStdString(options.text);
    if (!options.file.empty())
        request.order.file = QDir::current().absoluteFilePath(QString::fromStdString(options.file));
    const Interruption interruption;
    const auto tried = awaitTried(context, *run, request, interruption);
    if (!tried) {
        const int code = printError(context, tried.error());
        return interruption.isRequested() ? interruption.exitCode() : code;
    }
    if (context.json())
        printJson(jsonOf(run->id.toStdString(), *tried));
    else
        printTried(*tried, options.text);
    return 0;
}

} // namespace

void addSamples(CommandLine& line) {
    auto& o = line.keep<SamplesOptions>();
    auto* samples =
        line.addOfRun("samples", "Show what the model made of its inputs at validations", o.run,
                      [&o](CommandContext& context) { return runSamples(context, o); });
    line.mayOnlyRead(*samples);
    samples
        ->add_option("--steps", o.steps,
                     "Of these steps side by side, 500,1000; default: the newest")
        ->delimiter(',');
    auto* with = samples->add_option("--with", o.with, "Beside those of another run");
    auto* confusion = samples->add_flag("--confusion", o.confusion,
                                        "Which classes of pictures were taken for which");
    auto* list = samples->add_flag("--list", o.list, "Only the steps that have samples");
    list->excludes(with)->excludes(confusion);
    confusion->excludes(with);

    auto& t = line.keep<TryOptions>();
    auto* tries = line.add("try", "Let the model of a checkpoint answer",
                           [&t](CommandContext& context) { return runTry(context, t); });
    tries
        ->add_option("RUN", t.run,
                     "RUN or RUN@CHECKPOINT, a step or the name of a folder; "
                     "default: the newest")
        ->required();
    auto* text = tries->add_option("--prompt", t.text, "Text to continue or to translate");
    tries->add_option("--file", t.file, "A file of this computer with it, or a picture to classify")
        ->excludes(text);
    tries->add_option("--max-tokens", t.order.maxTokens, "How long the answer may get")
        ->check(CLI::Range(1, 65536));
    tries->add_option("--temperature", t.order.temperature, "0: always the likeliest token")
        ->check(CLI::Range(0.0, 100.0));
    tries->add_option("--top-k", t.order.topK, "Of how many tokens one is drawn; 0: of all")
        ->check(CLI::Range(0, 1048576));
    tries->add_option("--beam", t.order.beams, "Width of a translation's beam search")
        ->check(CLI::Range(1, 64));
    tries->add_option("--seed", t.order.seed, "Of the numbers by which tokens are drawn")
        ->check(CLI::Range(int64_t{0}, int64_t{1} << 53));
    tries->add_flag("--cpu", t.order.onCpu, "On the CPU, also where a GPU is free");
}

} // namespace rm::cli
