# SPDX-License-Identifier: Apache-2.0
# What the trainer reads, as far as it needs no torch: sentence pairs, pictures, texts and their
# tokenizers, token shards and what is done to a pickle before LibTorch sees it. A library of its
# own, so that fuzzers read by the very same code.
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_path(RINGMASTER_STB stb/stb_image.h REQUIRED)
find_library(RINGMASTER_WEBP webp REQUIRED)
find_library(RINGMASTER_SENTENCEPIECE sentencepiece REQUIRED)
find_library(RINGMASTER_SENTENCEPIECE_TRAIN sentencepiece_train REQUIRED)
find_library(RINGMASTER_ONIGURUMA onig REQUIRED)
find_library(RINGMASTER_UTF8PROC utf8proc REQUIRED)
add_library(rm_train_formats STATIC
    data/text/added_tokens.cpp
    data/text/bpe_tokenizer.cpp
    data/text/byte_pairs.cpp
    data/text/byte_tokenizer.cpp
    data/text/corpus.cpp
    data/text/fit_vocabulary.cpp
    data/text/pre_tokenizer.cpp
    data/text/regex.cpp
    data/text/sentencepiece_tokenizer.cpp
    data/text/token_file.cpp
    data/text/tokenizer_fields.cpp
    data/text/tokenizer_json.cpp
    formats/pickle_stack.cpp
    formats/plain_pickle.cpp
    text_metrics/unicode_text.cpp
    workloads/llama/settings.cpp
    workloads/resnet/image.cpp
    workloads/resnet/image_bmp.cpp
    workloads/resnet/image_jpeg.cpp
    workloads/resnet/image_png.cpp
    workloads/resnet/image_webp.cpp
    workloads/translation/pairs/catalogue.cpp
    workloads/translation/pairs/catalogue_pairs.cpp
    workloads/translation/pairs/pair.cpp
    workloads/translation/pairs/pair_file.cpp
    workloads/translation/pairs/pair_writer.cpp
    workloads/translation/pairs/tsv.cpp)
target_link_libraries(rm_train_formats PUBLIC rm_shared
    PRIVATE ${RINGMASTER_SENTENCEPIECE_TRAIN} ${RINGMASTER_SENTENCEPIECE} ${RINGMASTER_ONIGURUMA}
        ${RINGMASTER_UTF8PROC} ${RINGMASTER_WEBP} JPEG::JPEG PNG::PNG)
rm_unity(rm_train_formats)
