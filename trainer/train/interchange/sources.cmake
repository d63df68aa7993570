# SPDX-License-Identifier: Apache-2.0
target_sources(rm_train PRIVATE
    interchange/dtypes.cpp
    interchange/export.cpp
    interchange/folder_texts.cpp
    interchange/foreign_config.cpp
    interchange/foreign_weights.cpp
    interchange/import.cpp
    interchange/inspect.cpp
    interchange/own_process.cpp
    interchange/pickle_stack.cpp
    interchange/plain_pickle.cpp
    interchange/start_weights.cpp
    interchange/torch_archive.cpp
    interchange/torch_file.cpp
    interchange/unpickle.cpp
    interchange/weights.cpp)
