# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    formats/dtypes.cpp
    formats/folder_texts.cpp
    formats/own_process.cpp
    formats/torch_archive.cpp
    formats/torch_file.cpp
    formats/unpickle.cpp
    formats/weights.cpp)
