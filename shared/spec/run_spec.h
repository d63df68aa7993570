// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "shared/result.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rm {

/// All settings of a run. Plain values; TOML keys are `section.field` in snake case. Each field's
/// meaning, unit, bounds and default stand once, in the schema (see specSchema()).
struct RunSpec {
    std::string name = "run";
    int64_t seed = 1337;
    std::vector<std::string> rules; ///< what is done by itself, see parseRule()

    struct Model {
        std::string type = "gpt"; ///< a type of modelFamilies()
        std::string startFrom;    ///< folder or file of weights for step 0; empty: drawn
        int64_t layers = 6;
        int64_t heads = 6;
        int64_t width = 384;     ///< n_embd / d_model
        int64_t feedForward = 0; ///< 0: 4 * width; llama: 8 / 3 of it
        int64_t context = 256;   ///< tokens
        double dropout = 0.0;
        bool shareEmbeddings = false; ///< translation: between the two languages
        int64_t kvHeads = 0;          ///< llama, as all up to ropeOriginalContext; 0: heads
        int64_t headDim = 0;          ///< 0: width / heads
        bool tieEmbeddings = false;
        double normEps = 1e-5;
        double ropeBase = 10000;
        std::string ropeScaling = "none"; ///< "none" | "linear" | "llama3"
        double ropeFactor = 1;
        double ropeLowFrequency = 1, ropeHighFrequency = 4;
        int64_t ropeOriginalContext = 0; ///< 0: context
        int64_t classes = 0;             ///< 0: as many as the training folder has
        int64_t imageSize = 224;         ///< pixels
        bool syncBatchNorm = false;
        bool operator==(const Model&) const = default;
    } model;

    struct Data {
        /// Files and folders of the family's DataKind, or shards of them: text, pairs of sentences
        /// or pictures.
        std::vector<std::string> train;
        std::vector<std::string> validation; ///< empty: hold out `validationShare` of train
        double validationShare = 0.05;
        bool stage = false; ///< paths are on the launching computer and are sent to the nodes
        std::string tokenizer = "bytes"; ///< "bytes" | "sentencepiece" | "tokenizer.json"
        std::string tokenizerFile;       ///< or its folder; empty: model.startFrom's, else learnt
        int64_t vocabSize = 8000;        ///< sentencepiece only; translation: per language
        int64_t workers = 0;             ///< threads that read ahead; 0: chosen
        double maxBad = 0.01;            ///< share of unreadable samples above which a run ends
        bool operator==(const Data&) const = default;
    } data;

    struct Train {
        int64_t steps = 1000;
        int64_t epochs = 0;                  ///< passes over the data; above 0: in place of steps
        int64_t batchSize = 8;               ///< samples per rank and micro-batch
        std::vector<int64_t> rankBatchSizes; ///< by rank; empty: batchSize on all
        /// translation: padded tokens of the longer side, a batch; 0: batchSize pairs
        int64_t batchTokens = 4096;
        int64_t accumulation = 1;
        int64_t globalBatch = 0;           ///< samples a step over all ranks; 0: what comes out
        std::string precision = "float32"; ///< "float32" | "bfloat16" | "float16" (autocast)
        bool tf32 = false;
        double labelSmoothing = 0.0;
        double ema = 0.0; ///< decay of the weights' moving average; 0: none
        bool activationCheckpointing = false;
        std::string onNonFinite = "stop"; ///< "stop" | "skip" | "rollback"
        std::string onSpike = "warn";     ///< "ignore" | "warn" | "skip" | "rollback" | "stop"
        double spikeThreshold = 10;       ///< robust standard deviations above the median
        int64_t spikeWindow = 100;        ///< logged steps
        double rollbackLrFactor = 1;      ///< what each rollback multiplies optimizer.lr by
        std::string watch = "loss";       ///< validation/...: "loss", "bleu", "chrf", "cer", ...
        int64_t patience = 0;             ///< validations without a better one; 0: for ever
        std::vector<int64_t> pauseAt;     ///< steps after which it validates and pauses
        int64_t threads = 0;              ///< per rank; 0: cores / local ranks
        int64_t logEvery = 1;             ///< steps
        bool operator==(const Train&) const = default;
    } train;

    struct Optimizer {
        std::string type = "adamw"; ///< "adamw" | "adam" | "sgd"
        double lr = 3e-4;
        double beta1 = 0.9;
        double beta2 = 0.95;
        double eps = 1e-8;
        double momentum = 0.9;    ///< sgd
        bool nesterov = false;    ///< sgd
        double weightDecay = 0.1; ///< matrices only, never norms and biases
        double clip = 1.0;        ///< global L2 norm; 0: off
        double clipValue = 0.0;   ///< absolute value of a gradient; 0: off
        bool sharded = false;     ///< ZeRO-1
        bool operator==(const Optimizer&) const = default;
    } optimizer;

    struct Schedule {
        /// "constant" | "step" | "cosine" | "inverse-sqrt" | "linear" | "wsd"
        std::string type = "cosine";
        int64_t warmupSteps = 0;
        double minLr = 0.0;
        int64_t stepEvery = 1000; ///< step
        double stepFactor = 0.1;  ///< step
        int64_t decaySteps = 0;   ///< wsd: the decay at the end
        bool operator==(const Schedule&) const = default;
    } schedule;

    struct Distribution {
        int64_t bucketMb = 25; ///< MiB
        bool staticGraph = false;
        std::string compression = "none"; ///< "none" | "bfloat16" | "float16"
        bool operator==(const Distribution&) const = default;
    } distribution;

    struct Validation {
        int64_t every = 100;     ///< steps; 0: not by steps
        int64_t everyEpochs = 0; ///< 0: not by epochs
        int64_t batches = 10;
        int64_t sampleTokens = 120; ///< 0: no sample
        std::string prompt = "\n";
        double temperature = 0.8; ///< for samples; 0: the likeliest token every time
        int64_t topK = 50;        ///< for samples; 0: all tokens
        double topP = 1.0;        ///< for samples; 1: all tokens
        int64_t beams = 1;        ///< translation; 1: greedy
        double lengthPenalty = 1.0;
        int64_t pictures = 24; ///< kept as samples; 0: neither these nor a confusion matrix
        bool operator==(const Validation&) const = default;
    } validation;

    struct Checkpoint {
        std::string directory;             ///< empty: `checkpoints/` in the run directory
        std::string onExisting = "refuse"; ///< "refuse" | "resume" | "separate"
        int64_t every = 500;               ///< steps; 0: not by steps
        int64_t everyEpochs = 0;           ///< 0: not by epochs
        int64_t keepLast = 3;
        bool keepBest = true;
        int64_t keepBestCount = 1;   ///< with keepBest: how many, by train.watch
        int64_t keepEvery = 0;       ///< checkpoints at its multiples stay; 0: none for that
        std::string copies = "auto"; ///< "auto" | "computer" | "off": where a second one lies
        bool operator==(const Checkpoint&) const = default;
    } checkpoint;

    struct Launch {
        std::string device = "auto";  ///< "auto" | "cpu" | "cuda"
        std::string runtime = "auto"; ///< on GPUs: "auto" | "cuda12" | "cuda13"
        int64_t ranks = 0;            ///< per node when none is named; 0: one per GPU, else 1
        std::string interface;        ///< empty: chosen by what the nodes can reach
        int64_t masterPort = 0;       ///< 0: a free port
        std::vector<std::string>
            environment; ///< "NAME=value"; NCCL_*, GLOO_*, TORCH_*, OMP_*, MKL_* only
        std::vector<std::string> sbatch;   ///< options for the job on a Slurm cluster
        std::vector<std::string> jobSetup; ///< shell lines of its script, before the ranks start
        std::vector<std::string> srun;     ///< options for the step in it that starts them
        int64_t maxRestarts = 3;           ///< in a row without a new step; 0: none
        int64_t minNodes = 0;              ///< the least with which a restart is fine; 0: all
        std::string onHang = "restart";    ///< "restart" | "stop" | "wait"
        bool operator==(const Launch&) const = default;
    } launch;

    bool operator==(const RunSpec&) const = default;
};

/// Whether a run of this spec validates at all.
inline bool validates(const RunSpec& spec) {
    return spec.validation.every > 0 || spec.validation.everyEpochs > 0;
}

/// The steps of a run from scratch; nullopt: as many as train.epochs are, see StepsPlanned.
inline std::optional<int64_t> knownSteps(const RunSpec& spec) {
    return spec.train.epochs > 0 ? std::nullopt : std::optional(spec.train.steps);
}

/// A pointer to one field of a RunSpec.
using SpecFieldRef = std::variant<bool*, int64_t*, double*, std::string*, std::vector<std::string>*,
                                  std::vector<int64_t>*>;

/// One row of the schema: the one source for parsing, checking, writing, the form and the docs.
struct SpecField {
    std::string_view key;                  ///< "optimizer.lr"
    std::string_view label;                ///< "Learning rate"
    std::string_view unit;                 ///< "steps", "tokens", "" ...
    std::string_view description;          ///< one sentence, shown as the tooltip
    double min = 0, max = 0;               ///< numbers and lists of them only, inclusive
    std::vector<std::string_view> choices; ///< strings only; empty: any
    SpecFieldRef (*ref)(RunSpec&) = nullptr;
    std::vector<std::string_view> models; ///< values of model.type that use it; empty: all
};

/// Every field in the order in which it is written and shown. Lives for ever.
std::span<const SpecField> specSchema();

/// Reads TOML. kInvalid for bad syntax, an unknown key (naming the nearest known one) or a wrong
/// type, with `source`, line, key, value and what is allowed. Does not check bounds.
Result<RunSpec> parseRunSpec(std::string_view toml, std::string_view source);

/// parseRunSpec() of a file of at most 1 MiB.
Result<RunSpec> loadRunSpec(const std::string& path);

/// Writes every field; parseRunSpec() of it gives an equal spec.
std::string toToml(const RunSpec& spec);

/// A spec that passed check(): whoever holds one need not validate anything again.
class CheckedSpec {
public:
    const RunSpec& operator*() const { return m_spec; }
    const RunSpec* operator->() const { return &m_spec; }
    bool operator==(const CheckedSpec&) const = default;

private:
    explicit CheckedSpec(RunSpec spec)
        : m_spec(std::move(spec)) {}
    friend Result<CheckedSpec> check(RunSpec spec);

    RunSpec m_spec;
};

/// Bounds, choices and rules across fields (width divisible by heads, warm-up within steps, ...).
/// The error names every violated rule, one per line.
Result<CheckedSpec> check(RunSpec spec);

} // namespace rm
