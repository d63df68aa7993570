// SPDX-License-Identifier: Apache-2.0
#include "shared/return_if_error.h"
#include "shared/spec/environment.h"
#include "shared/spec/model_family.h"
#include "shared/spec/rule.h"
#include "shared/spec/schema.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>
#include <limits>

namespace rm {

namespace {

using Mistakes = std::vector<std::string>;

constexpr const char* kNoValidation = "validation.every = 0 and validation.every_epochs = 0";

void checkBounds(const SpecField& field, const std::string& verb, const std::string& shown,
                 double value, Mistakes& mistakes) {
    // Written so that NaN is out of bounds.
    if (!(value >= field.min && value <= field.max))
        mistakes.push_back(std::string(field.key) + verb + shown + ", but must be " +
                           plainNumber(field.min) + " to " + plainNumber(field.max));
}

void checkText(const SpecField& field, const std::string& text, Mistakes& mistakes) {
    if (!isPlainText(text))
        mistakes.push_back(std::string(field.key) + " holds control characters or is not UTF-8");
    if (field.choices.empty() || std::ranges::find(field.choices, text) != field.choices.end())
        return;
    std::string choices;
    for (const std::string_view choice : field.choices)
        choices += (choices.empty() ? "\"" : ", \"") + std::string(choice) + "\"";
    mistakes.push_back(std::string(field.key) + " is \"" + text + "\", but must be " +
                       (field.choices.size() > 1 ? "one of " : "") + choices);
}

void checkField(const SpecField& field, const SpecFieldRef& ref, Mistakes& mistakes) {
    if (const auto* whole = std::get_if<int64_t*>(&ref))
        checkBounds(field, " is ", std::to_string(**whole), double(**whole), mistakes);
    else if (const auto* number = std::get_if<double*>(&ref))
        checkBounds(field, " is ", plainNumber(**number), **number, mistakes);
    else if (const auto* text = std::get_if<std::string*>(&ref))
        checkText(field, **text, mistakes);
    else if (const auto* list = std::get_if<std::vector<std::string>*>(&ref))
        for (const std::string& element : **list)
            checkText(field, element, mistakes);
    else if (const auto* numbers = std::get_if<std::vector<int64_t>*>(&ref))
        for (const int64_t element : **numbers)
            checkBounds(field, " holds ", std::to_string(element), double(element), mistakes);
}

bool isName(const std::string& text) {
    constexpr size_t kMaxName = 64;
    const auto isBegin = [](char byte) {
        return (static_cast<unsigned char>(byte) & 0xc0) != 0x80;
    };
    const auto characters = static_cast<size_t>(std::ranges::count_if(text, isBegin)); // of UTF-8
    return characters > 0 && characters <= kMaxName && text.find_first_of("\n\t") == text.npos;
}

void checkName(const RunSpec& spec, Mistakes& mistakes) {
    if (!isName(spec.name))
        mistakes.push_back("name must be one line of 1 to 64 characters");
}

void checkPaths(std::string_view key, const std::vector<std::string>& paths, bool stage,
                Mistakes& mistakes) {
    for (const std::string& path : paths) {
        if (path.empty() || path.find('\n') != path.npos)
            mistakes.push_back(std::string(key) + " holds an empty path or one with a line break");
        else if (!stage && path.front() != '/')
            mistakes.push_back(std::string(key) + " holds \"" + path +
                               "\", but paths on the nodes must be absolute; to send files of "
                               "this computer set data.stage = true");
    }
}

/// Checks the path of a key that may be empty.
void checkPath(std::string_view key, const std::string& path, bool stage, Mistakes& mistakes) {
    if (!path.empty())
        checkPaths(key, {path}, stage, mistakes);
}

void checkModel(const RunSpec& spec, Mistakes& mistakes) {
    const size_t before = mistakes.size();
    checkPath("model.start_from", spec.model.startFrom, spec.data.stage, mistakes);
    if (mistakes.size() > before)
        mistakes.back() +=
            "; nothing is downloaded, so that a name on the Hugging Face Hub is none";
    if (const ModelFamily* family = findFamily(spec.model.type))
        family->check(spec, mistakes);
}

void checkTokenizer(const RunSpec& spec, Mistakes& mistakes) {
    const auto& data = spec.data;
    checkPath("data.tokenizer_file", data.tokenizerFile, data.stage, mistakes);
    if (usesField(spec, "data.tokenizer_file") && data.tokenizer == "tokenizer.json" &&
        data.tokenizerFile.empty() && spec.model.startFrom.empty())
        mistakes.push_back("data.tokenizer is \"tokenizer.json\", but neither "
                           "data.tokenizer_file nor model.start_from says where it is");
}

void checkData(const RunSpec& spec, Mistakes& mistakes) {
    const auto& data = spec.data;
    if (data.train.empty())
        mistakes.push_back("data.train is empty, but must name at least one file or folder");
    checkPaths("data.train", data.train, data.stage, mistakes);
    checkPaths("data.validation", data.validation, data.stage, mistakes);
    if (validates(spec) && data.validation.empty() && data.validationShare == 0)
        mistakes.push_back("data.validation_share is 0 and data.validation is empty, but " +
                           std::string(spec.validation.every > 0 ? "validation.every"
                                                                 : "validation.every_epochs") +
                           " asks for validation; set one of them, or " + kNoValidation);
}

void checkSchedule(const RunSpec& spec, Mistakes& mistakes) {
    // How many steps epochs have is known where the data is: see Training::make().
    const int64_t steps =
        spec.train.epochs > 0 ? std::numeric_limits<int64_t>::max() : spec.train.steps;
    if (spec.schedule.warmupSteps > steps)
        mistakes.push_back(
            "schedule.warmup_steps is " + std::to_string(spec.schedule.warmupSteps) +
            ", but must be at most train.steps = " + std::to_string(spec.train.steps));
    else if (spec.schedule.warmupSteps + spec.schedule.decaySteps > steps)
        mistakes.push_back("schedule.warmup_steps and schedule.decay_steps are more than "
                           "train.steps = " +
                           std::to_string(spec.train.steps) + " together");
    if (spec.schedule.minLr > spec.optimizer.lr)
        mistakes.push_back(
            "schedule.min_lr is " + plainNumber(spec.schedule.minLr) +
            ", but must be at most optimizer.lr = " + plainNumber(spec.optimizer.lr));
}

bool measures(const ModelFamily& family, std::string_view watch) {
    return std::ranges::find(family.figures, watch, watchNameOf) != family.figures.end();
}

void checkWatch(const RunSpec& spec, Mistakes& mistakes) {
    const auto& train = spec.train;
    const ModelFamily* family = findFamily(spec.model.type);
    if (family && !measures(*family, train.watch))
        mistakes.push_back("train.watch is \"" + train.watch + "\", which a " + spec.model.type +
                           " model does not measure");
    if (train.patience > 0 && !validates(spec))
        mistakes.push_back("train.patience is " + std::to_string(train.patience) + ", but " +
                           kNoValidation + " never validate");
}

/// Why a run with this spec has no values of a metric that a rule watches; empty: it has.
std::string whyNever(const RunSpec& spec, const std::string& metric) {
    constexpr std::string_view kValidation = "validation/";
    if (!metric.starts_with(kValidation))
        return {};
    if (!validates(spec))
        return std::string(kNoValidation) + " never validate";
    const ModelFamily* family = findFamily(spec.model.type);
    return family && !measures(*family, std::string_view(metric).substr(kValidation.size()))
               ? "a " + spec.model.type + " model does not measure it"
               : "";
}

void checkRules(const RunSpec& spec, Mistakes& mistakes) {
    constexpr size_t kMostRules = 32;
    if (spec.rules.size() > kMostRules)
        mistakes.push_back("rules holds more than " + std::to_string(kMostRules) + " rules");
    for (const std::string& text : spec.rules) {
        const auto rule = parseRule(text);
        if (!rule)
            mistakes.push_back(rule.error().message);
        else if (const std::string why = whyNever(spec, rule->metric); !why.empty())
            mistakes.push_back("rule \"" + text + "\" watches " + rule->metric + ", but " + why);
    }
}

void checkOptimizer(const RunSpec& spec, Mistakes& mistakes) {
    const auto& optimizer = spec.optimizer;
    if (optimizer.nesterov && optimizer.momentum == 0)
        mistakes.push_back("optimizer.nesterov is true, but optimizer.momentum is 0");
}

void checkCheckpoint(const RunSpec& spec, Mistakes& mistakes) {
    const std::string& directory = spec.checkpoint.directory;
    if (!directory.empty() && (directory.front() != '/' || directory.find('\n') != directory.npos))
        mistakes.push_back("checkpoint.directory is \"" + directory +
                           "\", but must be an absolute path or empty");
}

bool isInterface(std::string_view name) {
    constexpr size_t kMaxInterface = 15;
    return name.size() <= kMaxInterface && std::ranges::all_of(name, [](char c) {
               return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                      c == '.' || c == '_' || c == '-' || c == '@';
           });
}

void checkLaunch(const RunSpec& spec, Mistakes& mistakes) {
    if (!isInterface(spec.launch.interface))
        mistakes.push_back("launch.interface is \"" + spec.launch.interface +
                           "\", but must be an interface's name or empty");
    for (std::string& mistake : environmentMistakes(spec.launch.environment, "launch.environment"))
        mistakes.push_back(std::move(mistake));
    for (const std::string& option : spec.launch.sbatch)
        if (const std::string mistake = sbatchMistake(option); !mistake.empty())
            mistakes.push_back("launch.sbatch holds \"" + option + "\", but an option for sbatch " +
                               mistake);
    for (const std::string& line : spec.launch.jobSetup)
        if (const std::string mistake = jobSetupMistake(line); !mistake.empty())
            mistakes.push_back("launch.job_setup holds \"" + line + "\", but a line of it " +
                               mistake);
    for (const std::string& option : spec.launch.srun)
        if (const std::string mistake = srunMistake(option); !mistake.empty())
            mistakes.push_back("launch.srun holds \"" + option + "\", but an option for srun " +
                               mistake);
}

} // namespace

Result<void> checkRunName(const std::string& name) {
    const bool hasBlankEnd = name.starts_with(' ') || name.ends_with(' ');
    if (!isName(name) || !isPlainText(name) || hasBlankEnd)
        return fail(ErrorCode::kInvalid, "a name must be one line of 1 to 64 characters, without "
                                         "control characters and without blanks at its ends");
    return {};
}

Result<CheckedSpec> check(RunSpec spec) {
    Mistakes mistakes;
    for (const SpecField& field : specSchema())
        checkField(field, field.ref(spec), mistakes);
    for (const auto rule :
         {checkName, checkModel, checkData, checkTokenizer, checkWatch, checkRules, checkOptimizer,
          checkSchedule, checkCheckpoint, checkLaunch})
        rule(spec, mistakes);
    RM_RETURN_IF_ERROR(failWithAll(mistakes));
    return CheckedSpec(std::move(spec));
}

} // namespace rm
