# SPDX-License-Identifier: Apache-2.0
# Tests of several nodes share lanes.
set(CTEST_RESOURCE_SPEC_FILE ${CMAKE_SOURCE_DIR}/tests/lanes.json)
include(CTest)

# Measured by test: ctest begins with the longest, and runs together what the processors can do.
# tests/support/measure_costs writes it.
file(STRINGS ${CMAKE_SOURCE_DIR}/tests/costs.txt RM_COSTS REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/costs.txt)
option(RINGMASTER_METER_TESTS "Count the processor time of each test, for tests/support/measure_costs" OFF)

# rm_add_test(NAME tst_x SOURCES a.cpp ... LIBRARIES t ... [PROGRAM name | OWN_PROGRAM] [NEEDS target ...]
#             and what rm_add_test_entry() takes beside OF)
# One class of Qt Test with its QTEST_MAIN, one ctest entry, one target tst_x. All those of a folder are one program
# (rm_test_program()), which is a test by the name that it is called by: build/PRESET/tests/tst_x is a link to it.
# PROGRAM: another program of this folder, for tests that have little in common with the others.
# OWN_PROGRAM: the test is a program of its own, as it defines main() or another global function, or has flags of its own.
# NEEDS: what is built before it runs, beside what its libraries depend on.
function(rm_add_test)
    cmake_parse_arguments(T "OWN_PROGRAM;ALONE;NODES;XVFB" "NAME;PROGRAM;TIMEOUT" "SOURCES;LIBRARIES;NEEDS;LABELS;FUNCTIONS"
        ${ARGN})
    if(T_OWN_PROGRAM)
        set(_program ${T_NAME})
        rm_make_test_program(${_program})
        set_target_properties(${_program} PROPERTIES RM_IS_PRECOMPILED ON)
    else()
        rm_test_program(_program "${T_PROGRAM}")
        rm_alias_of_program(${T_NAME} ${_program})
    endif()
    target_sources(${_program} PRIVATE ${T_SOURCES})
    foreach(_source ${T_SOURCES})
        rm_moc_of_test(${_program} ${_source})
    endforeach()
    target_link_libraries(${_program} PRIVATE ${T_LIBRARIES})
    rm_precompile_for_tests(${_program} ${T_LIBRARIES})
    if(T_NEEDS)
        add_dependencies(${T_NAME} ${T_NEEDS})
    endif()
    set(_how TIMEOUT ${T_TIMEOUT})
    foreach(_flag ALONE NODES XVFB)
        if(T_${_flag})
            list(APPEND _how ${_flag})
        endif()
    endforeach()
    rm_add_test_entry(NAME ${T_NAME} OF ${T_NAME} ${_how} LABELS ${T_LABELS} FUNCTIONS ${T_FUNCTIONS})
    if(T_FUNCTIONS)
        cmake_language(EVAL CODE "cmake_language(DEFER CALL rm_check_functions ${T_NAME} ${T_SOURCES})")
    endif()
endfunction()

# Fails where a function of a test that several entries share is in none of them.
function(rm_check_functions name source)
    get_property(_run TARGET ${name} PROPERTY RM_FUNCTIONS)
    file(READ ${source} _text)
    string(FIND "${_text}" "private Q_SLOTS:" _begin)
    string(SUBSTRING "${_text}" ${_begin} -1 _text)
    string(FIND "${_text}" "\nprivate:" _end)
    string(SUBSTRING "${_text}" 0 ${_end} _text)
    string(REGEX MATCHALL "void [A-Za-z0-9]+\\(\\)" _slots "${_text}")
    foreach(_slot IN LISTS _slots)
        string(REGEX REPLACE "void ([A-Za-z0-9]+).*" "\\1" _function "${_slot}")
        if(NOT _function IN_LIST _run AND NOT _function MATCHES "^(init|cleanup|initTestCase|cleanupTestCase)$")
            message(FATAL_ERROR "${source}: no entry of ${name} runs ${_function}()")
        endif()
    endforeach()
endfunction()

# rm_add_test_entry(NAME name OF tst_x LABELS unit ... [FUNCTIONS f ...] [TIMEOUT s] [NODES | ALONE] [XVFB])
# A ctest entry that runs these functions of a test, or all.
# TIMEOUT: see rm_limit_test(); 180 s.
# NODES: it runs several nodes. No more of them run at once than there are lanes in
#   tests/lanes.json, as the deadlines on nodes are those of normal use.
# ALONE: no other test runs meanwhile, as it measures.
# XVFB: it has an X server of its own, as a person has; otherwise windows are drawn offscreen.
# The tests see RINGMASTER_BIN (programs), RINGMASTER_SOURCE and RINGMASTER_TORCH in their environment.
function(rm_add_test_entry)
    cmake_parse_arguments(E "ALONE;NODES;XVFB" "NAME;OF;TIMEOUT" "LABELS;FUNCTIONS" ${ARGN})
    if(NOT E_TIMEOUT)
        set(E_TIMEOUT 180)
    endif()
    set(_before)
    if(RINGMASTER_METER_TESTS)
        set(_before ${CMAKE_SOURCE_DIR}/tests/support/metered ${E_NAME})
    endif()
    if(E_XVFB)
        list(APPEND _before ${CMAKE_SOURCE_DIR}/tests/support/with_xvfb)
    endif()
    add_test(NAME ${E_NAME} COMMAND ${_before} ${RM_TEST_FOLDER}/${E_OF} ${E_FUNCTIONS})
    if(NOT TARGET ${E_NAME})
        add_custom_target(${E_NAME})
        add_dependencies(${E_NAME} ${E_OF})
    endif()
    foreach(_function IN LISTS E_FUNCTIONS)
        string(REGEX REPLACE ":.*" "" _function "${_function}") # a row of its data
        set_property(TARGET ${E_OF} APPEND PROPERTY RM_FUNCTIONS ${_function})
    endforeach()
    set_tests_properties(${E_NAME} PROPERTIES LABELS "${E_LABELS}")
    rm_limit_test(${E_NAME} ${E_TIMEOUT})
    rm_cost_of_test(${E_NAME})
    if(E_XVFB)
        set_tests_properties(${E_NAME} PROPERTIES SKIP_RETURN_CODE 77)
    endif()
    if(E_ALONE)
        set_tests_properties(${E_NAME} PROPERTIES RUN_SERIAL ON)
    endif()
    if(E_NODES)
        set_tests_properties(${E_NAME} PROPERTIES RESOURCE_GROUPS nodes:1)
    endif()
    rm_test_environment(${E_NAME})
    # Threads that spin while they wait would take cores from other tests.
    if("unit" IN_LIST E_LABELS)
        set_property(TEST ${E_NAME} APPEND PROPERTY ENVIRONMENT OMP_NUM_THREADS=1)
    endif()
endfunction()

set(RM_TEST_FOLDER ${CMAKE_BINARY_DIR}/tests)

function(rm_make_test_program program)
    add_executable(${program})
    set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${RM_TEST_FOLDER})
    target_include_directories(${program} PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/moc)
    target_link_libraries(${program} PRIVATE Qt6::Test Qt6::Network)
    target_compile_definitions(${program} PRIVATE QT_NO_KEYWORDS)
endfunction()

# rm_test_program(VARIABLE NAME): the program of the tests of this folder, or the one of that name, made at the first
# call.
function(rm_test_program variable name)
    file(RELATIVE_PATH _folder ${CMAKE_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
    string(MAKE_C_IDENTIFIER "tests_${_folder}" _program)
    if(name)
        string(APPEND _program _${name})
    endif()
    set(${variable} ${_program} PARENT_SCOPE)
    if(TARGET ${_program})
        return()
    endif()
    rm_make_test_program(${_program})
    target_link_libraries(${_program} PRIVATE rm_test_program)
endfunction()

# rm_unite_tests(): as rm_unity(), for the program of the tests of this folder. They are long, so a few are compiled at once.
function(rm_unite_tests)
    if(RINGMASTER_UNITY)
        rm_test_program(_program "")
        set_target_properties(${_program} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 5)
        target_compile_options(${_program} PRIVATE $<$<CXX_COMPILER_ID:GNU>:-Wno-subobject-linkage>)
    endif()
endfunction()

# The target of one test of a program, and the program under the test's name.
function(rm_alias_of_program name program)
    add_custom_target(${name} ALL)
    add_dependencies(${name} ${program})
    add_custom_command(TARGET ${program} POST_BUILD
        COMMAND ${CMAKE_COMMAND} -E create_symlink ${program} ${RM_TEST_FOLDER}/${name}
        BYPRODUCTS ${RM_TEST_FOLDER}/${name})
endfunction()

# Two thirds of the time of a test's compiler go into headers, so they are precompiled: once for all programs without a
# window or LibTorch (rm_test_program of tests/support), and once for each of the few others.
function(rm_precompile_for_tests program)
    get_target_property(_is_done ${program} RM_IS_PRECOMPILED)
    if(_is_done)
        return()
    endif()
    set_target_properties(${program} PROPERTIES RM_IS_PRECOMPILED ON)
    set(_header ${CMAKE_SOURCE_DIR}/tests/support/test_program.h)
    if("rm_train" IN_LIST ARGN)
        target_precompile_headers(${program} PRIVATE ${CMAKE_SOURCE_DIR}/trainer/train/pch.h ${_header})
        set_target_properties(${program} PROPERTIES BUILD_RPATH "${RINGMASTER_TORCH}/lib")
    elseif("rm_gui_support" IN_LIST ARGN OR "rm_flow" IN_LIST ARGN)
        target_precompile_headers(${program} PRIVATE ${_header})
    else()
        target_precompile_headers(${program} REUSE_FROM rm_test_program)
        target_compile_options(${program} PRIVATE -fPIC) # as that library: GCC takes it from no other code
    endif()
    rm_hash_macros_of(${program} ${_header})
endfunction()

# What tests/costs.txt says of a test. ctest's "processors" are tenths of one here, as most tests wait for much of their
# time: packaging/lib/checks.sh gives ctest as many as there are.
function(rm_cost_of_test name)
    set_tests_properties(${name} PROPERTIES PROCESSORS 10)
    foreach(_line ${RM_COSTS})
        if(_line MATCHES "^${name} ([0-9]+) ([0-9]+)[.]([0-9])")
            set_tests_properties(${name} PROPERTIES COST ${CMAKE_MATCH_1})
            math(EXPR _tenths "10 * ${CMAKE_MATCH_2} + ${CMAKE_MATCH_3}")
            if(_tenths LESS 1)
                set(_tenths 1)
            endif()
            set_tests_properties(${name} PROPERTIES PROCESSORS ${_tenths})
        endif()
    endforeach()
endfunction()

# For the folders that are added after it: a test is built about as often as it runs, and most of a
# first build is theirs. So they are optimized less, unless the target says RM_OPTIMIZED, and lld
# links them, where it is, in a fifth of the time. Programs and their libraries are not concerned.
# GCC 12 warns at -O1, as it does not at -O2, of constants of an initializer list, and of std::string's own code where
# that is precompiled.
set(RM_FALSE_ALARMS -Wno-maybe-uninitialized -Wno-array-bounds -Wno-restrict -Wno-stringop-overflow
    -Wno-stringop-overread)
function(rm_build_tests_fast)
    set(_optimized $<BOOL:$<TARGET_PROPERTY:RM_OPTIMIZED>>)
    set(_fast "$<AND:$<CONFIG:RelWithDebInfo>,$<NOT:${_optimized}>>")
    rm_add_cxx_options("$<${_fast}:-O1;$<$<CXX_COMPILER_ID:GNU>:${RM_FALSE_ALARMS}>>")
    find_program(RINGMASTER_LLD ld.lld)
    mark_as_advanced(RINGMASTER_LLD)
    if(RINGMASTER_LLD)
        add_link_options(-fuse-ld=lld)
    endif()
endfunction()

# For how many seconds one function of a test, with all rows of its data, may run on an idle machine; beside other
# tests it has three times as long. Qt Test says then what it was doing; ctest, which would not, waits for as long again.
function(rm_limit_test name seconds)
    math(EXPR _function "3 * ${seconds}")
    math(EXPR _whole "2 * ${_function}")
    set_tests_properties(${name} PROPERTIES TIMEOUT ${_whole})
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT QTEST_FUNCTION_TIMEOUT=${_function}000)
endfunction()

# For what includes LibTorch beside rm_train: the precompiled header of that, instead of 7 s of
# parsing for each source.
function(rm_reuse_train_pch target)
    target_precompile_headers(${target} REUSE_FROM rm_train)
    set_target_properties(${target} PROPERTIES RM_OPTIMIZED ON) # as rm_train, too
    target_compile_options(${target} PRIVATE -fPIC) # as rm_train: GCC takes it from no other code
endfunction()

# moc/tst_x.moc for a source that includes it. Not AUTOMOC, which reads torch's headers for 8 s a test.
function(rm_moc_of_test program source)
    get_filename_component(_name ${source} NAME_WE)
    file(STRINGS ${source} _wants REGEX "^#include \"${_name}.moc\"")
    set(_moc ${CMAKE_CURRENT_BINARY_DIR}/moc/${_name}.moc)
    get_source_file_property(_made ${_moc} GENERATED)
    if(_wants AND NOT _made)
        qt6_generate_moc(${source} ${_moc})
        set_source_files_properties(${_moc} PROPERTIES GENERATED ON)
    endif()
    if(_wants)
        target_sources(${program} PRIVATE ${_moc})
    endif()
endfunction()

function(rm_test_environment name)
    set_property(TEST ${name} APPEND PROPERTY ENVIRONMENT
        RINGMASTER_BIN=${CMAKE_RUNTIME_OUTPUT_DIRECTORY}
        RINGMASTER_SOURCE=${CMAKE_SOURCE_DIR}
        RINGMASTER_BUILD=${CMAKE_BINARY_DIR}
        RINGMASTER_TORCH=${RINGMASTER_TORCH}
        QT_QPA_PLATFORM=offscreen
        QT_FATAL_CRITICALS=1 # such as a text without a value for one of its places
        ASAN_OPTIONS=detect_leaks=0
        TSAN_OPTIONS=ignore_noninstrumented_modules=1:suppressions=${CMAKE_SOURCE_DIR}/tests/support/tsan.supp)
endfunction()
