# SPDX-License-Identifier: Apache-2.0
include(CTest)

# rm_add_test(NAME tst_x SOURCES a.cpp ... LIBRARIES t ... LABELS unit tsan ... [TIMEOUT s]
#             [NODES | ALONE] [XVFB [FUNCTION...]])
# TIMEOUT: see rm_limit_test(); 180 s.
# NODES: it runs several nodes, whose deadlines are those of normal use, and leaves a processor to
#   others now and then. No second one runs meanwhile; they begin first, as others fill them up.
# ALONE: no other test runs meanwhile, as it measures.
# XVFB: runs these functions, or all, on an X server, as for a person; otherwise windows are drawn offscreen.
# One Qt Test program (QTEST_GUILESS_MAIN or QTEST_MAIN in its source), one ctest entry. The tests see
# RINGMASTER_BIN (programs), RINGMASTER_SOURCE and RINGMASTER_TORCH in their environment.
function(rm_add_test)
    cmake_parse_arguments(T "ALONE;NODES" "NAME;TIMEOUT" "SOURCES;LIBRARIES;LABELS;XVFB" ${ARGN})
    if(NOT T_TIMEOUT)
        set(T_TIMEOUT 180)
    endif()
    add_executable(${T_NAME} ${T_SOURCES})
    foreach(_source ${T_SOURCES})
        rm_moc_of_test(${_source})
    endforeach()
    target_include_directories(${T_NAME} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/moc)
    set_target_properties(${T_NAME} PROPERTIES
        RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests)
    target_link_libraries(${T_NAME} PRIVATE ${T_LIBRARIES} Qt6::Test)
    if("rm_train" IN_LIST T_LIBRARIES)
        rm_reuse_train_pch(${T_NAME})
    endif()
    target_compile_definitions(${T_NAME} PRIVATE QT_NO_KEYWORDS)
    if(DEFINED T_XVFB OR "XVFB" IN_LIST T_KEYWORDS_MISSING_VALUES)
        rm_add_xvfb_test(${T_NAME} ${T_NAME} ${T_XVFB})
    else()
        add_test(NAME ${T_NAME} COMMAND ${T_NAME})
    endif()
    set_tests_properties(${T_NAME} PROPERTIES LABELS "${T_LABELS}")
    rm_limit_test(${T_NAME} ${T_TIMEOUT})
    if(T_ALONE)
        set_tests_properties(${T_NAME} PROPERTIES RUN_SERIAL ON)
    endif()
    if(T_NODES)
        set_tests_properties(${T_NAME} PROPERTIES
            RESOURCE_LOCK nodes PROCESSORS 2 COST ${T_TIMEOUT})
    endif()
    rm_test_environment(${T_NAME})
    # Threads that spin while they wait would take cores from other tests.
    if("unit" IN_LIST T_LABELS)
        set_property(TEST ${T_NAME} APPEND PROPERTY ENVIRONMENT OMP_NUM_THREADS=1)
    endif()
endfunction()

# For the folders that are added after it: a test is built about as often as it runs, and most of a
# first build is theirs. So they are optimized less, unless the target says RM_OPTIMIZED, and lld
# links them, where it is, in a fifth of the time. Programs and their libraries are not concerned.
# GCC 12 warns at -O1, as it does not at -O2, of constants of an initializer list.
function(rm_build_tests_fast)
    set(_optimized $<BOOL:$<TARGET_PROPERTY:RM_OPTIMIZED>>)
    set(_fast "$<AND:$<CONFIG:RelWithDebInfo>,$<NOT:${_optimized}>>")
    rm_add_cxx_options("$<${_fast}:-O1;$<$<CXX_COMPILER_ID:GNU>:-Wno-maybe-uninitialized>>")
    find_program(RINGMASTER_LLD ld.lld)
    mark_as_advanced(RINGMASTER_LLD)
    if(RINGMASTER_LLD)
        add_link_options(-fuse-ld=lld)
    endif()
endfunction()

# For how many seconds one function of a test may run. Qt Test says then what it was doing; ctest,
# which would not, waits for as long again.
function(rm_limit_test name seconds)
    math(EXPR _whole "2 * ${seconds}")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${_whole})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT QTEST_FUNCTION_TIMEOUT=${seconds}000)
endfunction()

# For what includes LibTorch beside rm_train: the precompiled header of that, instead of 7 s of
# parsing for each source.
function(rm_reuse_train_pch target)
    target_precompile_headers(${target} REUSE_FROM rm_train)
    set_target_properties(${target} PROPERTIES RM_OPTIMIZED ON) # as rm_train, too
    target_compile_options(${target} PRIVATE -fPIC) # as rm_train: GCC takes it from no other code
endfunction()

# rm_add_xvfb_test(tst_x program [FUNCTION...]): a ctest entry that runs these functions of a test
# program, or all, on an X server of its own.
function(rm_add_xvfb_test name program)
    add_test(NAME ${name}
        COMMAND ${CMAKE_SOURCE_DIR}/tests/support/with_xvfb $<TARGET_FILE:${program}> ${ARGN})
    set_tests_properties(${name} PROPERTIES SKIP_RETURN_CODE 77)
endfunction()

# moc/tst_x.moc for a source that includes it. Not AUTOMOC, which reads torch's headers for 8 s a test.
function(rm_moc_of_test source)
    get_filename_component(_name ${source} NAME_WE)
    file(STRINGS ${source} _wants REGEX "^#include \"${_name}.moc\"")
    set(_moc ${CMAKE_CURRENT_BINARY_DIR}/moc/${_name}.moc)
    get_source_file_property(_made ${_moc} GENERATED)
    if(_wants AND NOT _made)
        qt6_generate_moc(${source} ${_moc})
        set_source_files_properties(${_moc} PROPERTIES GENERATED ON)
    endif()
    if(_wants)
        set_property(SOURCE ${source} APPEND PROPERTY OBJECT_DEPENDS ${_moc})
    endif()
endfunction()

function(rm_test_environment name)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
        RINGMASTER_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
        RINGMASTER_SOURCE=${CMAKE_SOURCE_DIR}
        RINGMASTER_BUILD=${CMAKE_BINARY_DIR}
        RINGMASTER_TORCH=${RINGMASTER_TORCH}
        QT_QPA_PLATFORM=offscreen
        ASAN_OPTIONS=detect_leaks=0
        TSAN_OPTIONS=ignore_noninstrumented_modules=1:suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp)
endfunction()
