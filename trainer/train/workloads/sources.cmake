# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    workloads/foreign_config.cpp
    workloads/foreign_weights.cpp
    workloads/gpt/gpt.cpp
    workloads/gpt/gpt_config.cpp
    workloads/gpt/workload.cpp
    workloads/language_model.cpp
    workloads/language_task.cpp
    workloads/language_workload.cpp
    workloads/llama/cpu/llama_kernels.cpp
    workloads/llama/cpu/llama_rows.cpp
    workloads/llama/llama.cpp
    workloads/llama/llama_ops.cpp
    workloads/llama/rotary.cpp
    workloads/llama/workload.cpp
    workloads/registry.cpp
    workloads/resnet/batch_norm.cpp
    workloads/resnet/image_batches.cpp
    workloads/resnet/image_findings.cpp
    workloads/resnet/image_folder.cpp
    workloads/resnet/image_task.cpp
    workloads/resnet/image_view.cpp
    workloads/resnet/resnet.cpp
    workloads/resnet/workload.cpp
    workloads/start_weights.cpp
    workloads/task.cpp
    workloads/translation/beam_search.cpp
    workloads/translation/pairs/pair_batch.cpp
    workloads/translation/pairs/pair_batches.cpp
    workloads/translation/pairs/pair_corpus.cpp
    workloads/translation/pairs/pair_data.cpp
    workloads/translation/pairs/pair_deduplicator.cpp
    workloads/translation/pairs/pair_learning.cpp
    workloads/translation/pairs/pair_shape.cpp
    workloads/translation/pairs/pair_tokenizer.cpp
    workloads/translation/pairs/parallel_files.cpp
    workloads/translation/pairs/prepare_pairs.cpp
    workloads/translation/translation.cpp
    workloads/translation/translation_cache.cpp
    workloads/translation/translation_config.cpp
    workloads/translation/translation_search.cpp
    workloads/translation/translation_task.cpp
    workloads/translation/workload.cpp
    workloads/workload.cpp)
# Compiled like model/cpu/gelu_rows.cpp.
set_source_files_properties(workloads/llama/cpu/llama_rows.cpp PROPERTIES SKIP_PRECOMPILE_HEADERS ON
    COMPILE_OPTIONS "-O3;-mavx2;-mfma;-ffinite-math-only;-fno-signed-zeros")
set_source_files_properties(workloads/llama/cpu/llama_kernels.cpp PROPERTIES
    SKIP_PRECOMPILE_HEADERS ON COMPILE_OPTIONS -fopenmp)
