// SPDX-License-Identifier: Apache-2.0
#include "shared/spec/schema.h"

#include "shared/spec/model_family.h"
#include "shared/spec/schema_rows.h"
#include "shared/spec/toml_fields.h"

#include <algorithm>

namespace rm {
namespace {

bool holds(const Names& names, std::string_view name) {
    return std::ranges::find(names, name) != names.end();
}

// Whole numbers stay exact in a double up to here.
constexpr double kMaxExact = 9007199254740991.0;
constexpr double kMaxSteps = 1e12;

const SchemaRow::Only kAdam = {"optimizer.type", {"adamw", "adam"}};
const SchemaRow::Only kSgd = {"optimizer.type", {"sgd"}};

/// Whether train.batch_size counts: a model's batches may be sized by tokens.
bool countsSamples(const RunSpec& spec) {
    return spec.train.batchTokens == 0 || !usesField(spec, "train.batch_tokens");
}

/// The metrics that the validation of any family can measure, as train.watch names them.
Names watchedNames() {
    Names names;
    for (const ModelFamily& family : modelFamilies())
        for (const MetricId figure : family.figures)
            if (const auto name = watchNameOf(figure); !holds(names, name))
                names.push_back(name);
    return names;
}

Names modelTypes() {
    Names types;
    for (const ModelFamily& family : modelFamilies())
        types.insert(types.end(), family.types.begin(), family.types.end());
    return types;
}

Rows runFields() {
    return {
        plain("name", "Name", "What the run is called; up to 64 characters.", RM_FIELD(name))
            .basic()
            .alsoCalled({"run_name", "run_id", "project", "experiment", "job_name"}),
        number("seed", "Seed", "", "Start of every random number: weights, order of data, dropout.",
               {0, kMaxExact}, RM_FIELD(seed))
            .alsoCalled({"random_seed", "manual_seed", "rng_seed"}),
        plain(
            "rules", "Rules",
            "What the run does by itself, a line each: \"validation/loss rises 3 times: lr / 2 and "
            "checkpoint\".",
            RM_FIELD(rules))
            .alsoCalled({"callbacks", "triggers", "reduce_on_plateau", "alerts"}),
    };
}

Rows modelFields() {
    return {
        choice("model.type", "Model", "Kind of model.", modelTypes(), RM_FIELD(model.type))
            .alsoCalled({"architecture", "arch", "model_type", "model_name"}),
        plain(
            "model.start_from", "Start from",
            "Weights for step 0: a folder of Hugging Face or torchvision, a checkpoint, or a file; "
            "absolute unless data.stage sends it; empty: drawn at random.",
            RM_FIELD(model.startFrom))
            .alsoCalled({"pretrained", "init_from", "init_checkpoint", "model_name_or_path",
                         "pretrained_model_name_or_path", "finetune_from", "load_weights",
                         "pretrained_path", "base_model"}),
        number("model.layers", "Layers", "",
               "Transformer blocks; translation: of the encoder, and as many of the decoder.",
               {1, 1024}, RM_FIELD(model.layers))
            .alsoCalled({"n_layer", "n_layers", "num_layers", "num_hidden_layers", "depth",
                         "encoder_layers", "decoder_layers"}),
        number("model.heads", "Heads", "", "Attention heads of a block; they divide the width.",
               {1, 1024}, RM_FIELD(model.heads))
            .alsoCalled(
                {"n_head", "n_heads", "num_heads", "num_attention_heads", "attention_heads"}),
        number("model.width", "Width", "", "Size of a token's vector (n_embd, d_model).",
               {1, 131072}, RM_FIELD(model.width))
            .alsoCalled({"n_embd", "d_model", "hidden_size", "embed_dim", "embedding_size", "dim",
                         "hidden_dim"}),
        number("model.feed_forward", "Feed-forward width", "",
               "Width inside a block (d_ff); 0: four times the width; llama: 8/3 of it.",
               {0, 1048576}, RM_FIELD(model.feedForward))
            .alsoCalled(
                {"d_ff", "ffn_dim", "n_inner", "intermediate_size", "ffn_hidden_size", "mlp_dim"}),
        number("model.context", "Context", "tokens",
               "How many tokens the model sees at once; translation: of either language.",
               {1, 1048576}, RM_FIELD(model.context))
            .alsoCalled({"block_size", "seq_len", "seq_length", "sequence_length", "max_seq_len",
                         "max_length", "context_length", "n_ctx", "n_positions",
                         "max_position_embeddings"}),
        number("model.dropout", "Dropout", "ratio",
               "Share of activations dropped while training; llama: of attention alone.", {0, 0.99},
               RM_FIELD(model.dropout))
            .alsoCalled({"dropout_rate", "p_dropout", "resid_pdrop", "attention_dropout"}),
    };
}

Rows dataFields() {
    return {
        plain("data.train", "Training data",
              "Files, folders or shards to learn from; absolute unless staged. What they hold "
              "follows from the model.",
              RM_FIELD(data.train))
            .basic()
            .alsoCalled({"dataset", "data_dir", "data_path", "train_file", "train_data",
                         "train_path", "training_data", "dataset_path", "train_files"}),
        plain("data.validation", "Validation data",
              "As the training data; empty: a share of the training data is held out.",
              RM_FIELD(data.validation))
            .alsoCalled({"val", "valid", "val_data", "eval_data", "validation_file", "eval_file",
                         "val_path", "test_data"}),
        number("data.validation_share", "Held-out share", "ratio",
               "Share of the training data for validation when no validation data is named.",
               {0, 0.9}, RM_FIELD(data.validationShare))
            .alsoCalled({"val_split", "validation_split", "test_size", "val_fraction", "split"}),
        plain("data.stage", "Send data to nodes",
              "The paths are on this computer; what they hold is sent to every node.",
              RM_FIELD(data.stage))
            .alsoCalled({"upload", "send", "copy_data"}),
        choice("data.tokenizer", "Tokenizer", "How text becomes tokens.",
               {"bytes", "sentencepiece", "tokenizer.json"}, RM_FIELD(data.tokenizer))
            .alsoCalled({"tokenizer_type", "tokenizer_name", "vocab", "encoding"}),
        plain("data.tokenizer_file", "Tokenizer file",
              "A tokenizer.json or tokenizer.model, or its folder; absolute unless staged; empty: "
              "that of model.start_from, else sentencepiece learns one.",
              RM_FIELD(data.tokenizerFile))
            .onlyWith({"data.tokenizer", {"sentencepiece", "tokenizer.json"}})
            .alsoCalled({"tokenizer_path", "tokenizer_name_or_path", "tokenizer_model",
                         "vocab_file", "spm_model"}),
        number("data.vocab_size", "Vocabulary", "tokens",
               "Size of the vocabulary of sentencepiece; translation: of each language.",
               {16, 1048576}, RM_FIELD(data.vocabSize))
            .onlyWith({"data.tokenizer", {"sentencepiece"}})
            .alsoCalled({"n_vocab", "vocabulary_size", "num_embeddings"}),
        number("data.workers", "Reader threads", "threads",
               "Threads of a rank that read ahead; 0: chosen for the kind of data.", {0, 1024},
               RM_FIELD(data.workers))
            .alsoCalled(
                {"num_workers", "dataloader_num_workers", "data_workers", "loader_threads"}),
        number("data.max_bad", "Unreadable share", "ratio",
               "Share of unreadable pictures or lines above which the run ends.", {0, 1},
               RM_FIELD(data.maxBad)),
    };
}

Rows trainFields() {
    return {
        number("train.steps", "Steps", "steps",
               "Optimizer steps until the run is finished, where train.epochs is 0.",
               {1, kMaxSteps}, RM_FIELD(train.steps))
            .basic()
            .onlyIf([](const RunSpec& spec) { return spec.train.epochs == 0; })
            .alsoCalled({"max_steps", "max_iters", "iterations", "num_steps", "num_iterations",
                         "train_steps", "total_steps", "train_iters", "n_steps"}),
        number("train.epochs", "Epochs", "epochs",
               "Passes over the training data until the run is finished, in place of train.steps; "
               "0: it counts steps.",
               {0, 1e6}, RM_FIELD(train.epochs))
            .basic()
            .alsoCalled({"epoch", "max_epochs", "num_epochs", "num_train_epochs", "n_epochs",
                         "total_epochs"}),
        number("train.batch_size", "Batch size", "samples",
               "Sequences, pictures or, where train.batch_tokens is 0, pairs a rank takes at once.",
               {1, 1048576}, RM_FIELD(train.batchSize))
            .basic()
            .onlyIf(countsSamples)
            .alsoCalled({"bs", "micro_batch_size", "per_device_train_batch_size",
                         "device_batch_size", "train_batch_size", "local_batch_size",
                         "minibatch_size", "batch"}),
        number("train.rank_batch_sizes", "Batch size by rank", "samples",
               "For unequal GPUs: batch size of rank 0, 1, ...; empty: the same on all.",
               {1, 1048576}, RM_FIELD(train.rankBatchSizes))
            .onlyIf(countsSamples),
        number("train.accumulation", "Accumulation", "batches",
               "Batches whose gradients make one optimizer step.", {1, 65536},
               RM_FIELD(train.accumulation))
            .alsoCalled({"gradient_accumulation_steps", "grad_accum", "grad_accumulation",
                         "accumulate_grad_batches", "accum_steps", "update_freq",
                         "gradient_accumulation"}),
        number("train.global_batch", "Global batch", "samples",
               "Samples of one optimizer step over all ranks, from which accumulation follows; 0: "
               "as the ranks make it.",
               {0, 1073741824}, RM_FIELD(train.globalBatch))
            .alsoCalled({"global_batch_size", "total_batch_size", "effective_batch_size"}),
        choice("train.precision", "Precision",
               "Number format of the forward pass; float16 scales its loss.",
               {"float32", "bfloat16", "float16"}, RM_FIELD(train.precision))
            .basic()
            .alsoCalled({"dtype", "amp", "fp16", "bf16", "mixed_precision", "half", "autocast",
                         "float16", "bfloat16"}),
        plain("train.tf32", "TF32", "Matrix products of float32 on TF32 tensor cores.",
              RM_FIELD(train.tf32))
            .alsoCalled({"allow_tf32", "matmul_precision"}),
        number("train.label_smoothing", "Label smoothing", "ratio",
               "Probability spread evenly over all classes or tokens.", {0, 0.99},
               RM_FIELD(train.labelSmoothing))
            .alsoCalled({"smoothing", "label_smoothing_factor"}),
        number(
            "train.ema", "Weight average", "",
            "Decay of the moving average of the weights, with which validation measures; 0: none.",
            {0, 0.9999999}, RM_FIELD(train.ema))
            .alsoCalled({"ema_decay", "model_ema", "weight_average", "polyak", "swa"}),
        plain("train.activation_checkpointing", "Activation checkpointing",
              "Computes activations again in the backward pass instead of keeping them.",
              RM_FIELD(train.activationCheckpointing))
            .alsoCalled({"gradient_checkpointing", "grad_checkpointing", "recompute",
                         "activation_checkpoint"}),
        choice("train.on_non_finite", "Non-finite gradients",
               "What a loss or gradient that is not finite leads to, on all ranks alike.",
               {"stop", "skip", "rollback"}, RM_FIELD(train.onNonFinite))
            .alsoCalled({"detect_anomaly", "skip_nan", "on_nan", "nan_policy"}),
        choice("train.on_spike", "Spikes",
               "What a sudden rise of the loss or of the gradient norm leads to, on all ranks "
               "alike; skip leaves out updates of high norm, rollback goes back to a checkpoint.",
               {"ignore", "warn", "skip", "rollback", "stop"}, RM_FIELD(train.onSpike))
            .alsoCalled({"loss_spike", "spike_policy", "skip_spikes", "on_loss_spike"}),
        number("train.spike_threshold", "Spike threshold", "",
               "Robust standard deviations above the median that make a spike.", {2, 1000},
               RM_FIELD(train.spikeThreshold))
            .onlyWith({"train.on_spike", {"warn", "skip", "rollback", "stop"}})
            .alsoCalled({"spike_zscore", "zscore_threshold"}),
        number("train.spike_window", "Spike window", "steps",
               "Logged steps whose median and spread tell a spike; half of them must be known.",
               {10, 10000}, RM_FIELD(train.spikeWindow))
            .onlyWith({"train.on_spike", {"warn", "skip", "rollback", "stop"}}),
        number("train.rollback_lr_factor", "Rate after a rollback", "",
               "What each rollback, of a spike or of a non-finite loss, multiplies the learning "
               "rate by, down to schedule.min_lr.",
               {0.001, 1}, RM_FIELD(train.rollbackLrFactor))
            .alsoCalled({"rollback_lr", "lr_backoff"}),
        choice("train.watch", "Watched metric",
               "Metric of validation that decides which checkpoint is best and when to stop early.",
               watchedNames(), RM_FIELD(train.watch))
            .alsoCalled({"monitor", "metric", "metric_for_best_model", "best_metric",
                         "early_stopping_metric"}),
        number("train.patience", "Patience", "validations",
               "Validations without a better watched metric after which the run ends; 0: never.",
               {0, 1000000}, RM_FIELD(train.patience))
            .alsoCalled({"early_stopping", "early_stopping_patience", "early_stop"}),
        number("train.pause_at", "Pause at", "steps",
               "Steps after which the run validates and pauses by itself, until it is resumed.",
               {1, kMaxSteps}, RM_FIELD(train.pauseAt))
            .alsoCalled({"rungs", "stop_at", "pause_steps"}),
        number("train.threads", "CPU threads", "threads",
               "Threads of a rank; 0: the node's cores shared by its ranks.", {0, 4096},
               RM_FIELD(train.threads))
            .alsoCalled(
                {"num_threads", "omp_num_threads", "cpu_threads", "n_threads", "intraop_threads"}),
        number("train.log_every", "Log every", "steps", "Steps from one logged step to the next.",
               {1, 1e9}, RM_FIELD(train.logEvery))
            .live()
            .alsoCalled(
                {"log_interval", "logging_steps", "log_every_n_steps", "log_freq", "print_freq"}),
    };
}

Rows optimizerFields() {
    return {
        choice("optimizer.type", "Optimizer", "Optimizer.", {"adamw", "adam", "sgd"},
               RM_FIELD(optimizer.type))
            .alsoCalled({"optim", "optimizer_type", "optimizer_name", "algorithm"}),
        number("optimizer.lr", "Learning rate", "", "Highest learning rate, reached after warm-up.",
               {0, 1000}, RM_FIELD(optimizer.lr))
            .basic()
            .live()
            .alsoCalled(
                {"learning_rate", "max_lr", "peak_lr", "base_lr", "step_size", "eta", "alpha"}),
        number("optimizer.beta1", "Beta 1", "", "Decay of the running mean of gradients.",
               {0, 0.999999}, RM_FIELD(optimizer.beta1))
            .onlyWith(kAdam)
            .alsoCalled({"adam_beta1", "b1", "betas"}),
        number("optimizer.beta2", "Beta 2", "", "Decay of the running mean of squared gradients.",
               {0, 0.999999}, RM_FIELD(optimizer.beta2))
            .onlyWith(kAdam)
            .alsoCalled({"adam_beta2", "b2"}),
        number("optimizer.eps", "Epsilon", "",
               "Keeps the division by the squared gradients finite.", {1e-20, 1},
               RM_FIELD(optimizer.eps))
            .onlyWith(kAdam)
            .alsoCalled({"adam_epsilon", "epsilon", "adam_eps"}),
        number("optimizer.momentum", "Momentum", "", "Share of the last update that sgd keeps.",
               {0, 0.999999}, RM_FIELD(optimizer.momentum))
            .onlyWith(kSgd)
            .alsoCalled({"sgd_momentum", "mu"}),
        plain("optimizer.nesterov", "Nesterov", "Momentum of sgd looks one update ahead.",
              RM_FIELD(optimizer.nesterov))
            .onlyWith(kSgd),
        number("optimizer.weight_decay", "Weight decay", "",
               "Decay of matrices, never of norms and biases; decoupled with adamw, added to the "
               "gradient else.",
               {0, 10}, RM_FIELD(optimizer.weightDecay))
            .alsoCalled({"wd", "l2", "decay", "weight_decay_rate"}),
        number("optimizer.clip", "Clip gradients", "",
               "Highest L2 norm of all gradients; 0: no clipping.", {0, 1e9},
               RM_FIELD(optimizer.clip))
            .live()
            .alsoCalled({"grad_clip", "max_grad_norm", "clip_grad", "clip_norm",
                         "gradient_clip_val", "gradient_clipping", "clip_grad_norm", "max_norm"}),
        number("optimizer.clip_value", "Clip by value", "",
               "Largest absolute value of any one gradient; 0: no clipping.", {0, 1e9},
               RM_FIELD(optimizer.clipValue))
            .alsoCalled({"clip_grad_value", "gradient_clip_value"}),
        plain("optimizer.sharded", "Sharded state",
              "Each rank keeps a share of the optimizer's state only (ZeRO-1).",
              RM_FIELD(optimizer.sharded))
            .alsoCalled({"zero", "zero_stage", "zero1", "zero_redundancy", "fsdp", "shard"}),
    };
}

Rows scheduleFields() {
    return {
        choice("schedule.type", "Schedule", "How the learning rate changes after warm-up.",
               {"constant", "step", "cosine", "inverse-sqrt", "linear", "wsd"},
               RM_FIELD(schedule.type))
            .alsoCalled({"scheduler", "lr_scheduler", "lr_schedule", "lr_scheduler_type",
                         "lr_decay_style", "lr_policy"}),
        number("schedule.warmup_steps", "Warm-up", "steps",
               "Steps in which the learning rate rises from 0.", {0, kMaxSteps},
               RM_FIELD(schedule.warmupSteps))
            .alsoCalled({"warmup", "warmup_iters", "lr_warmup_steps", "num_warmup_steps",
                         "lr_warmup_iters", "warmup_updates"}),
        number("schedule.min_lr", "Lowest learning rate", "",
               "Where the cosine, linear and wsd schedules end.", {0, 1000},
               RM_FIELD(schedule.minLr))
            .onlyWith({"schedule.type", {"cosine", "linear", "wsd"}})
            .alsoCalled({"min_learning_rate", "lr_min", "eta_min", "final_lr", "end_lr", "lr_end"}),
        number("schedule.step_every", "Step every", "steps",
               "step: steps from one drop of the learning rate to the next.", {1, kMaxSteps},
               RM_FIELD(schedule.stepEvery))
            .onlyWith({"schedule.type", {"step"}})
            .alsoCalled({"step_lr", "milestones", "lr_step_size"}),
        number("schedule.step_factor", "Step factor", "",
               "step: what each drop multiplies the learning rate by.", {0, 1},
               RM_FIELD(schedule.stepFactor))
            .onlyWith({"schedule.type", {"step"}})
            .alsoCalled({"gamma", "lr_gamma", "lr_factor"}),
        number("schedule.decay_steps", "Decay steps", "steps",
               "wsd: how many steps at the end the learning rate falls.", {0, kMaxSteps},
               RM_FIELD(schedule.decaySteps))
            .onlyWith({"schedule.type", {"wsd"}})
            .alsoCalled({"lr_decay_iters", "lr_decay_steps", "cooldown", "cooldown_steps"}),
    };
}

Rows distributionFields() {
    return {
        number("distribution.bucket_mb", "Bucket size", "MiB",
               "Gradients travel in buckets of at most this size.", {1, 4096},
               RM_FIELD(distribution.bucketMb))
            .alsoCalled({"bucket_cap_mb", "bucket_size", "bucket_size_mb"}),
        plain("distribution.static_graph", "Static graph",
              "Every step uses the same parameters in the same order.",
              RM_FIELD(distribution.staticGraph)),
        choice("distribution.compression", "Compression",
               "Number format in which gradients travel.", {"none", "bfloat16", "float16"},
               RM_FIELD(distribution.compression))
            .alsoCalled({"gradient_compression", "compress", "comm_hook", "fp16_compress"}),
    };
}

Rows validationFields() {
    return {
        number("validation.every", "Validate every", "steps",
               "Steps from one validation to the next; 0: not by steps.", {0, kMaxSteps},
               RM_FIELD(validation.every))
            .alsoCalled({"eval_interval", "eval_steps", "val_check_interval", "eval_every",
                         "val_interval", "validation_steps", "eval_freq", "valid_steps"}),
        number("validation.every_epochs", "Validate by epochs", "epochs",
               "Epochs from one validation to the next, each after the last step of an epoch; 0: "
               "not by epochs.",
               {0, 1e6}, RM_FIELD(validation.everyEpochs))
            .alsoCalled({"every_epoch", "validate_every_epoch", "check_val_every_n_epoch",
                         "eval_strategy", "evaluation_strategy", "val_every_epoch"}),
        number("validation.batches", "Batches", "batches", "Batches of one validation.",
               {1, 1000000}, RM_FIELD(validation.batches))
            .alsoCalled({"eval_iters", "limit_val_batches", "eval_batches", "val_batches"}),
        number("validation.sample_tokens", "Sample length", "tokens",
               "Length of the text generated at a validation; 0: none. Translation: how many "
               "tokens a sentence may get.",
               {0, 65536}, RM_FIELD(validation.sampleTokens))
            .alsoCalled({"max_new_tokens", "max_gen_len", "gen_length"}),
        plain("validation.prompt", "Prompt", "Text that the sample continues.",
              RM_FIELD(validation.prompt))
            .alsoCalled({"start", "sample_prompt", "input_text"}),
        number("validation.temperature", "Temperature", "",
               "The sample's scores are divided by it: lower is plainer; 0: always the likeliest "
               "token.",
               {0, 100}, RM_FIELD(validation.temperature)),
        number("validation.top_k", "Top-k", "tokens",
               "The sample draws from this many of the likeliest tokens; 0: from all.",
               {0, 1048576}, RM_FIELD(validation.topK)),
        number("validation.top_p", "Top-p", "ratio",
               "The sample draws from the likeliest tokens that together have this probability; "
               "1: from all.",
               {0, 1}, RM_FIELD(validation.topP)),
    };
}

Rows checkpointFields() {
    return {
        plain("checkpoint.directory", "Folder",
              "Absolute folder for checkpoints; empty: in the run's own folder.",
              RM_FIELD(checkpoint.directory))
            .alsoCalled({"out_dir", "output_dir", "save_dir", "ckpt_dir", "checkpoint_dir",
                         "save_path", "folder", "checkpoint_path"}),
        choice("checkpoint.on_existing", "Earlier checkpoints",
               "What a run's checkpoints in the folder lead to at a launch; refuse: names that "
               "run; resume: goes on from the newest of a run of this name, from scratch where "
               "there is none; separate: saves beside them.",
               {"refuse", "resume", "separate"}, RM_FIELD(checkpoint.onExisting))
            .alsoCalled({"resume", "auto_resume", "resume_latest", "resume_from_checkpoint",
                         "preload", "overwrite_output_dir", "overwrite", "on_existing"}),
        number("checkpoint.every", "Save every", "steps",
               "Steps from one checkpoint to the next; 0: not by steps. There is always one at the "
               "end.",
               {0, kMaxSteps}, RM_FIELD(checkpoint.every))
            .alsoCalled({"save_steps", "save_interval", "checkpoint_interval", "ckpt_every",
                         "save_every", "save_freq", "save_period"}),
        number("checkpoint.every_epochs", "Save by epochs", "epochs",
               "Epochs from one checkpoint to the next, each after the last step of an epoch; 0: "
               "not by epochs.",
               {0, 1e6}, RM_FIELD(checkpoint.everyEpochs))
            .alsoCalled(
                {"save_strategy", "save_every_epoch", "every_n_epochs", "save_every_n_epochs"}),
        number("checkpoint.keep_last", "Keep newest", "checkpoints", "How many of the newest stay.",
               {1, 1000000}, RM_FIELD(checkpoint.keepLast))
            .alsoCalled({"save_total_limit", "keep", "max_checkpoints", "max_to_keep", "save_top_k",
                         "keep_n"}),
        plain("checkpoint.keep_best", "Keep best",
              "The checkpoint with the best watched metric stays as well.",
              RM_FIELD(checkpoint.keepBest))
            .alsoCalled({"load_best_model_at_end", "save_best", "best"}),
        number("checkpoint.keep_best_count", "Best ones", "checkpoints",
               "With keep_best: how many with the best watched metric stay.", {1, 1000},
               RM_FIELD(checkpoint.keepBestCount))
            .alsoCalled({"save_top_k_best", "best_k"}),
        number("checkpoint.keep_every", "Keep every", "steps",
               "Those of steps that this divides stay for good; 0: none for that.", {0, kMaxSteps},
               RM_FIELD(checkpoint.keepEvery))
            .alsoCalled({"keep_period", "keep_every_n_steps"}),
        choice("checkpoint.copies", "Copies",
               "Where a copy of the newest two goes; auto: to a second node of the run, if it has "
               "one; "
               "computer: to this computer, while the app follows the run.",
               {"auto", "computer", "off"}, RM_FIELD(checkpoint.copies))
            .alsoCalled({"replicas", "backup"}),
    };
}

Rows launchFields() {
    return {
        choice("launch.device", "Device", "What the ranks compute on; auto: GPUs where there are.",
               {"auto", "cpu", "cuda"}, RM_FIELD(launch.device))
            .alsoCalled({"accelerator", "gpu", "cuda", "use_gpu"}),
        choice(
            "launch.runtime", "GPU runtime",
            "PyTorch's libraries on GPUs, cuda12: 2.7, for driver 525 and sm_50 and later; cuda13: "
            "2.11, for driver 580 and sm_75; auto: the newest that is set up and runs on all "
            "nodes.",
            {"auto", "cuda12", "cuda13"}, RM_FIELD(launch.runtime))
            .alsoCalled({"cuda_version", "torch_version"}),
        number("launch.ranks", "Ranks per node", "ranks", "0: one for each GPU, else one.",
               {0, 4096}, RM_FIELD(launch.ranks))
            .alsoCalled({"gpus", "n_gpus", "num_gpus", "devices", "nproc_per_node", "world_size",
                         "num_processes", "processes", "ntasks_per_node"}),
        plain("launch.interface", "Network interface",
              "Interface between the nodes, such as eth0; empty: chosen by what they can reach.",
              RM_FIELD(launch.interface))
            .alsoCalled(
                {"ifname", "nic", "nccl_socket_ifname", "gloo_socket_ifname", "network_interface"}),
        number("launch.master_port", "Master port", "",
               "TCP port of the rendezvous; 0: a free one.", {0, 65535},
               RM_FIELD(launch.masterPort))
            .alsoCalled({"port", "rdzv_port", "main_process_port"}),
        plain("launch.environment", "Environment",
              "NAME=value for every rank; NCCL_*, GLOO_*, TORCH_*, OMP_* and MKL_* only.",
              RM_FIELD(launch.environment))
            .alsoCalled({"env", "env_vars", "environment_variables"}),
        plain("launch.sbatch", "Options for sbatch",
              "Of the job on a Slurm cluster, such as --time=4:00:00; they come last, so that "
              "they replace Ringmaster's own.",
              RM_FIELD(launch.sbatch))
            .alsoCalled({"slurm", "slurm_options", "time_limit"}),
        plain("launch.job_setup", "Setup of the job",
              "Lines of the job's script on a Slurm cluster before the ranks start, such as module "
              "load cuda.",
              RM_FIELD(launch.jobSetup))
            .alsoCalled({"setup", "slurm_setup", "modules", "module_load", "prologue"}),
        plain("launch.srun", "Options for srun",
              "Of the step that starts the ranks' agents in that job, such as --mpi=none or "
              "--container-image=NAME; behind Ringmaster's own.",
              RM_FIELD(launch.srun))
            .alsoCalled({"srun_options", "srun_args", "step_options"}),
        number("launch.max_restarts", "Restarts", "restarts",
               "How often in a row, without a new step in between, a run that failed goes on by "
               "itself from its newest checkpoint.",
               {0, 1'000'000}, RM_FIELD(launch.maxRestarts))
            .alsoCalled({"restarts", "max_failures", "retries", "num_restarts"}),
        number("launch.min_nodes", "Least nodes", "nodes",
               "With how many of its nodes a restart may go on if others are lost; 0: all.",
               {0, 65536}, RM_FIELD(launch.minNodes))
            .alsoCalled({"nnodes", "min_nnodes", "num_nodes"}),
        choice("launch.on_hang", "When it hangs", "What ranks that hang lead to.",
               {"restart", "stop", "wait"}, RM_FIELD(launch.onHang))
            .alsoCalled({"hang", "watchdog", "on_timeout"}),
    };
}

/// Where a family's own row goes: after the row that it names, else last in its section.
auto placeFor(const FamilyRow& own, std::vector<SchemaRow>& rows) {
    const auto section = [](std::string_view key) { return key.substr(0, key.find('.')); };
    const auto last = std::ranges::find_if(rows.rbegin(), rows.rend(), [&](const SchemaRow& row) {
        return own.after.empty() ? section(row.key) == section(own.row.key) : row.key == own.after;
    });
    return last.base();
}

/// The values of model.type with which the field has an effect; empty: all.
Names typesThatUse(std::string_view key) {
    Names types;
    for (const ModelFamily& family : modelFamilies())
        if (holds(family.uses, key) || std::ranges::any_of(family.rows, [&](const FamilyRow& own) {
                return own.row.key == key;
            }))
            types.insert(types.end(), family.types.begin(), family.types.end());
    return types;
}

std::vector<SchemaRow> makeRows() {
    std::vector<SchemaRow> rows;
    for (const auto section :
         {runFields, modelFields, dataFields, trainFields, optimizerFields, scheduleFields,
          distributionFields, validationFields, checkpointFields, launchFields})
        for (Row& row : section())
            rows.push_back(std::move(row));
    for (const ModelFamily& family : modelFamilies())
        for (const FamilyRow& own : family.rows)
            rows.insert(placeFor(own, rows), own.row);
    for (SchemaRow& row : rows)
        row.models = typesThatUse(row.key);
    return rows;
}

} // namespace

std::span<const SchemaRow> schemaRows() {
    static const std::vector<SchemaRow> rows = makeRows();
    return rows;
}

std::span<const SpecField> specSchema() {
    static const std::vector<SpecField> fields(schemaRows().begin(), schemaRows().end());
    return fields;
}

bool usesField(const RunSpec& spec, const SchemaRow& field) {
    if (!field.models.empty() && !holds(field.models, spec.model.type))
        return false;
    if (field.onlyHolds && !field.onlyHolds(spec))
        return false;
    if (field.only.key.empty())
        return true;
    const auto other = std::ranges::find(specSchema(), field.only.key, &SpecField::key);
    RunSpec copy = spec;
    return holds(field.only.values, *std::get<std::string*>(other->ref(copy)));
}

bool usesField(const RunSpec& spec, std::string_view key) {
    const auto field = std::ranges::find(schemaRows(), key, &SchemaRow::key);
    return field != schemaRows().end() && usesField(spec, *field);
}

namespace {

std::string textOf(bool value) {
    return value ? "true" : "false";
}

std::string textOf(int64_t value) {
    return std::to_string(value);
}

std::string textOf(double value) {
    return plainNumber(value);
}

std::string textOf(const std::string& value) {
    return plainLine(value);
}

template <class T>
std::string textOf(const std::vector<T>& values) {
    std::string text;
    for (const T& value : values)
        text += (text.empty() ? "" : "; ") + textOf(value);
    return text;
}

} // namespace

std::string valueText(const SpecField& field, const RunSpec& spec) {
    RunSpec copy = spec;
    return std::visit([](auto* value) { return textOf(*value); }, field.ref(copy));
}

bool writesSamples(const RunSpec& spec) {
    return spec.validation.sampleTokens > 0 && usesField(spec, "validation.sample_tokens");
}

bool keepsPictures(const RunSpec& spec) {
    return spec.validation.pictures > 0 && usesField(spec, "validation.pictures");
}

} // namespace rm
