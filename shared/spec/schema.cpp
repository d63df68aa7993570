// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/run_spec.h"

namespace rm {
namespace {

using Rows = std::vector<SpecField>;
using Names = std::vector<std::string_view>;

// Whole numbers stay exact in a double up to here.
constexpr double kMaxExact = 9007199254740991.0;
constexpr double kMaxSteps = 1e12;

const Names kText = {"gpt", "translation"};
const Names kGpt = {"gpt"};
const Names kTranslation = {"translation"};
const Names kImages = {"resnet18", "resnet50"};

struct Bounds {
    double min, max;
};

SpecField number(std::string_view key, std::string_view label, std::string_view unit,
                 std::string_view description, Bounds bounds, SpecFieldRef (*ref)(RunSpec&),
                 Names models = {}) {
    return {key, label, unit, description, bounds.min, bounds.max, {}, ref, std::move(models)};
}

/// A text, a list of texts or a switch.
SpecField plain(std::string_view key, std::string_view label, std::string_view description,
                SpecFieldRef (*ref)(RunSpec&), Names models = {}) {
    return {key, label, "", description, 0, 0, {}, ref, std::move(models)};
}

SpecField choice(std::string_view key, std::string_view label, std::string_view description,
                 Names choices, SpecFieldRef (*ref)(RunSpec&)) {
    return {key, label, "", description, 0, 0, std::move(choices), ref, {}};
}

#define RM_FIELD(member) [](RunSpec& spec) -> SpecFieldRef { return &spec.member; }

Rows runFields() {
    return {
        plain("name", "Name", "What the run is called; up to 64 characters.", RM_FIELD(name)),
        number("seed", "Seed", "", "Start of every random number: weights, order of data, dropout.",
               {0, kMaxExact}, RM_FIELD(seed)),
    };
}

Rows modelFields() {
    return {
        choice("model.type", "Model", "Kind of model.",
               {"gpt", "translation", "resnet18", "resnet50"}, RM_FIELD(model.type)),
        number("model.layers", "Layers", "",
               "Transformer blocks; translation: of the encoder, and as many of the decoder.",
               {1, 1024}, RM_FIELD(model.layers), kText),
        number("model.heads", "Heads", "", "Attention heads of a block; they divide the width.",
               {1, 1024}, RM_FIELD(model.heads), kText),
        number("model.width", "Width", "", "Size of a token's vector (n_embd, d_model).",
               {1, 131072}, RM_FIELD(model.width), kText),
        number("model.feed_forward", "Feed-forward width", "",
               "Width inside a block (d_ff); 0: four times the width.", {0, 1048576},
               RM_FIELD(model.feedForward), kText),
        number("model.context", "Context", "tokens",
               "How many tokens the model sees at once; translation: of either language.",
               {1, 1048576}, RM_FIELD(model.context), kText),
        number("model.dropout", "Dropout", "ratio", "Share of activations dropped while training.",
               {0, 0.99}, RM_FIELD(model.dropout), kText),
        plain("model.share_embeddings", "Share embeddings",
              "One vocabulary and one embedding for both languages.",
              RM_FIELD(model.shareEmbeddings), kTranslation),
        number("model.classes", "Classes", "",
               "Kinds of pictures; 0: as many as the training folder has.", {0, 1048576},
               RM_FIELD(model.classes), kImages),
        number("model.image_size", "Image size", "pixels",
               "Height and width of the crop that the model sees.", {8, 4096},
               RM_FIELD(model.imageSize), kImages),
        plain("model.sync_batch_norm", "Synchronized batch norm",
              "Batch statistics over all ranks, not over each alone.",
              RM_FIELD(model.syncBatchNorm), kImages),
    };
}

Rows dataFields() {
    return {
        plain("data.train", "Training data",
              "Files, folders or shards to learn from; absolute unless staged. What they hold "
              "follows from the model.",
              RM_FIELD(data.train)),
        plain("data.validation", "Validation data",
              "As the training data; empty: a share of the training data is held out.",
              RM_FIELD(data.validation)),
        number("data.validation_share", "Held-out share", "ratio",
               "Share of the training data for validation when no validation data is named.",
               {0, 0.9}, RM_FIELD(data.validationShare)),
        plain("data.stage", "Send data to nodes",
              "The paths are on this computer; what they hold is sent to every node.",
              RM_FIELD(data.stage)),
        choice("data.tokenizer", "Tokenizer", "How text becomes tokens.",
               {"bytes", "sentencepiece"}, RM_FIELD(data.tokenizer)),
        number("data.vocab_size", "Vocabulary", "tokens",
               "Size of the vocabulary of sentencepiece; translation: of each language.",
               {16, 1048576}, RM_FIELD(data.vocabSize), kText),
        number("data.workers", "Reader threads", "threads",
               "Threads of a rank that read ahead; 0: chosen for the kind of data.", {0, 1024},
               RM_FIELD(data.workers)),
        number("data.max_bad", "Unreadable share", "ratio",
               "Share of unreadable pictures or lines above which the run ends.", {0, 1},
               RM_FIELD(data.maxBad)),
    };
}

Rows trainFields() {
    return {
        number("train.steps", "Steps", "steps", "Optimizer steps until the run is finished.",
               {1, kMaxSteps}, RM_FIELD(train.steps)),
        number("train.batch_size", "Batch size", "samples",
               "Sequences or pictures a rank takes at once.", {1, 1048576},
               RM_FIELD(train.batchSize)),
        number("train.rank_batch_sizes", "Batch size by rank", "samples",
               "For unequal GPUs: batch size of rank 0, 1, ...; empty: the same on all.",
               {1, 1048576}, RM_FIELD(train.rankBatchSizes)),
        number("train.batch_tokens", "Tokens a batch", "tokens",
               "Translation: pairs are batched up to this many padded tokens of the longer side.",
               {16, 16777216}, RM_FIELD(train.batchTokens), kTranslation),
        number("train.accumulation", "Accumulation", "batches",
               "Batches whose gradients make one optimizer step.", {1, 65536},
               RM_FIELD(train.accumulation)),
        number("train.global_batch", "Global batch", "samples",
               "Samples of one optimizer step over all ranks, from which accumulation follows; 0: "
               "as the ranks make it.",
               {0, 1073741824}, RM_FIELD(train.globalBatch)),
        choice("train.precision", "Precision",
               "Number format of the forward pass; float16 scales its loss.",
               {"float32", "bfloat16", "float16"}, RM_FIELD(train.precision)),
        plain("train.tf32", "TF32", "Matrix products of float32 on TF32 tensor cores.",
              RM_FIELD(train.tf32)),
        number("train.label_smoothing", "Label smoothing", "ratio",
               "Probability spread evenly over all classes or tokens.", {0, 0.99},
               RM_FIELD(train.labelSmoothing)),
        number(
            "train.ema", "Weight average", "",
            "Decay of the moving average of the weights, with which validation measures; 0: none.",
            {0, 0.9999999}, RM_FIELD(train.ema)),
        plain("train.activation_checkpointing", "Activation checkpointing",
              "Computes activations again in the backward pass instead of keeping them.",
              RM_FIELD(train.activationCheckpointing)),
        choice("train.on_non_finite", "Non-finite gradients",
               "What a loss or gradient that is not finite leads to, on all ranks alike.",
               {"stop", "skip", "rollback"}, RM_FIELD(train.onNonFinite)),
        choice("train.watch", "Watched metric",
               "Metric of validation that decides which checkpoint is best and when to stop early.",
               {"loss", "bleu", "chrf", "cer", "wer", "top1", "top5"}, RM_FIELD(train.watch)),
        number("train.patience", "Patience", "validations",
               "Validations without a better watched metric after which the run ends; 0: never.",
               {0, 1000000}, RM_FIELD(train.patience)),
        number("train.threads", "CPU threads", "threads",
               "Threads of a rank; 0: the node's cores shared by its ranks.", {0, 4096},
               RM_FIELD(train.threads)),
        number("train.log_every", "Log every", "steps", "Steps from one logged step to the next.",
               {1, 1e9}, RM_FIELD(train.logEvery)),
    };
}

Rows optimizerFields() {
    return {
        choice("optimizer.type", "Optimizer", "Optimizer.", {"adamw", "adam", "sgd"},
               RM_FIELD(optimizer.type)),
        number("optimizer.lr", "Learning rate", "", "Highest learning rate, reached after warm-up.",
               {0, 1000}, RM_FIELD(optimizer.lr)),
        number("optimizer.beta1", "Beta 1", "", "Decay of the running mean of gradients.",
               {0, 0.999999}, RM_FIELD(optimizer.beta1)),
        number("optimizer.beta2", "Beta 2", "", "Decay of the running mean of squared gradients.",
               {0, 0.999999}, RM_FIELD(optimizer.beta2)),
        number("optimizer.eps", "Epsilon", "",
               "Keeps the division by the squared gradients finite.", {1e-20, 1},
               RM_FIELD(optimizer.eps)),
        number("optimizer.momentum", "Momentum", "", "Share of the last update that sgd keeps.",
               {0, 0.999999}, RM_FIELD(optimizer.momentum)),
        plain("optimizer.nesterov", "Nesterov", "Momentum of sgd looks one update ahead.",
              RM_FIELD(optimizer.nesterov)),
        number("optimizer.weight_decay", "Weight decay", "",
               "Decay of matrices, never of norms and biases; decoupled with adamw, added to the "
               "gradient else.",
               {0, 10}, RM_FIELD(optimizer.weightDecay)),
        number("optimizer.clip", "Clip gradients", "",
               "Highest L2 norm of all gradients; 0: no clipping.", {0, 1e9},
               RM_FIELD(optimizer.clip)),
        number("optimizer.clip_value", "Clip by value", "",
               "Largest absolute value of any one gradient; 0: no clipping.", {0, 1e9},
               RM_FIELD(optimizer.clipValue)),
        plain("optimizer.sharded", "Sharded state",
              "Each rank keeps a share of the optimizer's state only (ZeRO-1).",
              RM_FIELD(optimizer.sharded)),
    };
}

Rows scheduleFields() {
    return {
        choice("schedule.type", "Schedule", "How the learning rate changes after warm-up.",
               {"constant", "step", "cosine", "inverse-sqrt", "linear", "wsd"},
               RM_FIELD(schedule.type)),
        number("schedule.warmup_steps", "Warm-up", "steps",
               "Steps in which the learning rate rises from 0.", {0, kMaxSteps},
               RM_FIELD(schedule.warmupSteps)),
        number("schedule.min_lr", "Lowest learning rate", "",
               "Where the cosine, linear and wsd schedules end.", {0, 1000},
               RM_FIELD(schedule.minLr)),
        number("schedule.step_every", "Step every", "steps",
               "step: steps from one drop of the learning rate to the next.", {1, kMaxSteps},
               RM_FIELD(schedule.stepEvery)),
        number("schedule.step_factor", "Step factor", "",
               "step: what each drop multiplies the learning rate by.", {0, 1},
               RM_FIELD(schedule.stepFactor)),
        number("schedule.decay_steps", "Decay steps", "steps",
               "wsd: how many steps at the end the learning rate falls.", {0, kMaxSteps},
               RM_FIELD(schedule.decaySteps)),
    };
}

Rows distributionFields() {
    return {
        number("distribution.bucket_mb", "Bucket size", "MiB",
               "Gradients travel in buckets of at most this size.", {1, 4096},
               RM_FIELD(distribution.bucketMb)),
        plain("distribution.static_graph", "Static graph",
              "Every step uses the same parameters in the same order.",
              RM_FIELD(distribution.staticGraph)),
        choice("distribution.compression", "Compression",
               "Number format in which gradients travel.", {"none", "bfloat16", "float16"},
               RM_FIELD(distribution.compression)),
    };
}

Rows validationFields() {
    return {
        number("validation.every", "Validate every", "steps",
               "Steps from one validation to the next; 0: never.", {0, kMaxSteps},
               RM_FIELD(validation.every)),
        number("validation.batches", "Batches", "batches", "Batches of one validation.",
               {1, 1000000}, RM_FIELD(validation.batches)),
        number("validation.sample_tokens", "Sample length", "tokens",
               "Length of the text generated at a validation; 0: none. Translation: how many "
               "tokens a sentence may get.",
               {0, 65536}, RM_FIELD(validation.sampleTokens), kText),
        plain("validation.prompt", "Prompt", "Text that the sample continues.",
              RM_FIELD(validation.prompt), kGpt),
        number("validation.beams", "Beams", "", "Translation: width of the beam search; 1: greedy.",
               {1, 64}, RM_FIELD(validation.beams), kTranslation),
        number("validation.length_penalty", "Length penalty", "",
               "Translation: a hypothesis scores its log-probability over length to this power.",
               {0, 10}, RM_FIELD(validation.lengthPenalty), kTranslation),
    };
}

Rows checkpointFields() {
    return {
        plain("checkpoint.directory", "Folder",
              "Absolute folder for checkpoints; empty: in the run's own folder.",
              RM_FIELD(checkpoint.directory)),
        number("checkpoint.every", "Save every", "steps",
               "Steps from one checkpoint to the next; 0: only by command and at the end.",
               {0, kMaxSteps}, RM_FIELD(checkpoint.every)),
        number("checkpoint.keep_last", "Keep newest", "checkpoints", "How many of the newest stay.",
               {1, 1000000}, RM_FIELD(checkpoint.keepLast)),
        plain("checkpoint.keep_best", "Keep best",
              "The checkpoint with the best watched metric stays as well.",
              RM_FIELD(checkpoint.keepBest)),
    };
}

Rows launchFields() {
    return {
        choice("launch.device", "Device", "What the ranks compute on; auto: GPUs where there are.",
               {"auto", "cpu", "cuda"}, RM_FIELD(launch.device)),
        number("launch.ranks", "Ranks per node", "ranks", "0: one for each GPU, else one.",
               {0, 4096}, RM_FIELD(launch.ranks)),
        plain("launch.interface", "Network interface",
              "Interface between the nodes, such as eth0; empty: chosen by what they can reach.",
              RM_FIELD(launch.interface)),
        number("launch.master_port", "Master port", "",
               "TCP port of the rendezvous; 0: a free one.", {0, 65535},
               RM_FIELD(launch.masterPort)),
        plain("launch.environment", "Environment",
              "NAME=value for every rank; NCCL_*, GLOO_*, TORCH_*, OMP_* and MKL_* only.",
              RM_FIELD(launch.environment)),
    };
}

#undef RM_FIELD

Rows makeSchema() {
    Rows schema;
    for (const auto section :
         {runFields, modelFields, dataFields, trainFields, optimizerFields, scheduleFields,
          distributionFields, validationFields, checkpointFields, launchFields})
        for (SpecField& field : section())
            schema.push_back(std::move(field));
    return schema;
}

} // namespace

std::span<const SpecField> specSchema() {
    static const Rows schema = makeSchema();
    return schema;
}

} // namespace rm
