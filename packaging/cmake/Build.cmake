# SPDX-License-Identifier: Apache-2.0
# Compiler flags: the options of the presets are turned into flags only here.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
# Small debug information: full backtraces, a third of the link time.
set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "-O2 -g1 -DNDEBUG")
if(NOT CMAKE_BUILD_TYPE)
    set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "" FORCE)
endif()

# nvcc understands none of these: see Cuda.cmake.
function(rm_add_cxx_options)
    add_compile_options("$<$<COMPILE_LANGUAGE:CXX>:${ARGN}>")
endfunction()

find_program(CCACHE ccache)
if(CCACHE)
    set(CMAKE_CXX_COMPILER_LAUNCHER
        ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
        CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
    rm_add_cxx_options($<$<CXX_COMPILER_ID:GNU>:-fpch-preprocess>)
endif()

# rm_hash_macros_of(TARGET HEADER): TARGET precompiles HEADER, which defines macros. ccache compares what the preprocessor
# writes, where no macro is left, and would take the precompiled header from before one was changed.
function(rm_hash_macros_of target header)
    if(CCACHE)
        set(_launcher ${CMAKE_CXX_COMPILER_LAUNCHER})
        list(INSERT _launcher 3 CCACHE_EXTRAFILES=${header})
        set_target_properties(${target} PROPERTIES CXX_COMPILER_LAUNCHER "${_launcher}")
    endif()
endfunction()

rm_add_cxx_options(-Wall -Wextra -Wshadow -Wnon-virtual-dtor -Woverloaded-virtual)
if(RINGMASTER_WERROR)
    rm_add_cxx_options(-Werror)
endif()
if(RINGMASTER_SANITIZE)
    rm_add_cxx_options(-fsanitize=${RINGMASTER_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
    add_link_options(-fsanitize=${RINGMASTER_SANITIZE})
endif()
if(RINGMASTER_SANITIZE STREQUAL "thread")
    # TSan does not support Asio's fences; its loops have one thread anyway.
    rm_add_cxx_options($<$<CXX_COMPILER_ID:GNU>:-Wno-tsan>)
endif()

include_directories(${CMAKE_SOURCE_DIR})
find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)

# rm_unity(TARGET): with RINGMASTER_UNITY the sources of a folder are compiled as one, since most of
# the time goes into headers. A source with options of its own stays alone. So names in unnamed
# namespaces are unique in a folder.
function(rm_unity target)
    if(NOT RINGMASTER_UNITY)
        return()
    endif()
    get_target_property(_sources ${target} SOURCES)
    foreach(_source ${_sources})
        get_filename_component(_folder ${_source} DIRECTORY)
        string(MAKE_C_IDENTIFIER "in_${_folder}" _group)
        set_source_files_properties(${_source} PROPERTIES UNITY_GROUP ${_group})
    endforeach()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # GCC takes a source that is included for a header.
    target_compile_options(${target} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
endfunction()
