# SPDX-License-Identifier: GPL-3.0-or-later
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(ZLIB REQUIRED IMPORTED_TARGET zlib)
target_sources(rm_core PRIVATE
    deploy/bootstrap.cpp
    deploy/carry_checkpoint.cpp
    deploy/deploy_agent.cpp
    deploy/deploy_tree.cpp
    deploy/hash_cache.cpp
    deploy/local_tree.cpp
    deploy/needed_versions.cpp
    deploy/runtime.cpp
    deploy/transfer_chain.cpp
    deploy/tree_sender.cpp)
target_link_libraries(rm_core PRIVATE PkgConfig::ZSTD PkgConfig::ZLIB)
