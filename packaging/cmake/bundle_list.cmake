# SPDX-License-Identifier: Apache-2.0
# cmake -DOUTPUT=FILE -DTRAINER=FILE [-DPLUGIN=FILE] -DTORCH=FOLDER -P bundle_list.cmake
# Writes what a node needs to train, one "PATH IN THE BUNDLE<tab>FILE HERE" per line: the trainer,
# the plugin, and every library that they load except those of glibc and the GPU driver. libstdc++
# and libgcc_s are the node's own too: every distribution with a recent enough glibc has them, and
# the build machine's may need a newer glibc (Debian 12's need 2.36, we promise 2.34).
cmake_minimum_required(VERSION 3.25)
get_filename_component(site "${TORCH}" DIRECTORY)
file(GLOB nvidia_folders "${site}/nvidia/*/lib")
set(modules)
if(PLUGIN)
    # torch, cuDNN and NVRTC load these by name at run time. Not among them is libtorch_cuda_linalg.so,
    # which torch loads at the first decomposition or solution of a system (at::linalg_*, save
    # vector_norm): nothing here calls one, and with it goes cuSOLVER, 195 MB in all. Nor is
    # libcudnn_adv, which cuDNN loads at the first recurrent layer, CTC loss or attention of its own
    # old interface: 245 MB.
    file(GLOB by_name "${site}/nvidia/cudnn/lib/libcudnn_*.so.*"
        "${site}/nvidia/*/lib/libnvrtc-builtins.so.*")
    list(FILTER by_name EXCLUDE REGEX "libcudnn_adv")
    list(APPEND by_name ${TORCH}/lib/libcaffe2_nvrtc.so)
    set(modules MODULES ${PLUGIN} ${by_name})
endif()
file(GET_RUNTIME_DEPENDENCIES
    EXECUTABLES ${TRAINER}
    ${modules}
    RESOLVED_DEPENDENCIES_VAR found
    UNRESOLVED_DEPENDENCIES_VAR lost
    CONFLICTING_DEPENDENCIES_PREFIX twice
    DIRECTORIES ${TORCH}/lib ${nvidia_folders}
    PRE_EXCLUDE_REGEXES
        "^(ld-linux.*|lib(c|m|dl|rt|pthread|util|resolv|anl|nsl|cuda|nvidia-ml|gcc_s|stdc\\+\\+))\\.so")
foreach(name IN LISTS twice_FILENAMES)
    list(GET twice_${name} 0 first)
    list(APPEND found ${first})
endforeach()

file(REMOVE ${OUTPUT})
if(lost AND PLUGIN)
    list(JOIN lost ", " names)
    message(STATUS "No bundle for GPU nodes: ${names} are not here (packaging/run --cuda12 or --cuda13)")
    return()
elseif(lost)
    message(FATAL_ERROR "The trainer needs libraries that were not found: ${lost}")
endif()
if(PLUGIN)
    list(APPEND found ${by_name} ${PLUGIN})
endif()

set(lines "bin/ringmaster-trainer\t${TRAINER}\n")
set(named)
foreach(library IN LISTS found)
    get_filename_component(name ${library} NAME)
    if(NOT name IN_LIST named)
        list(APPEND named ${name})
        string(APPEND lines "lib/${name}\t${library}\n")
    endif()
endforeach()
file(WRITE ${OUTPUT} "${lines}")
