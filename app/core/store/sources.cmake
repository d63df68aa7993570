# SPDX-License-Identifier: GPL-3.0-or-later
find_package(SQLiteCpp REQUIRED)
pkg_check_modules(SQLITE3 REQUIRED IMPORTED_TARGET sqlite3)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd)

# The schema travels inside the program: one step per file, in the order of the numbers.
file(GLOB _schema_files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/resources/schema/[0-9][0-9][0-9]_*.sql)
list(SORT _schema_files)
set(RM_SCHEMA_STEPS "")
foreach(_file ${_schema_files})
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${_file})
    get_filename_component(_name ${_file} NAME)
    string(SUBSTRING ${_name} 0 3 _number)
    string(REGEX REPLACE "^0+" "" _number ${_number})
    file(READ ${_file} _sql)
    string(APPEND RM_SCHEMA_STEPS "{${_number}, R\"sql(${_sql})sql\"},\n")
endforeach()
configure_file(${CMAKE_CURRENT_SOURCE_DIR}/store/schema_steps.cpp.in
               ${CMAKE_CURRENT_BINARY_DIR}/schema_steps.cpp @ONLY)

# A library of its own, as the tests under TSan need nothing else of the engine.
add_library(rm_store STATIC
    ${CMAKE_CURRENT_BINARY_DIR}/schema_steps.cpp
    settings/private_files.cpp
    store/requested_rows.cpp
    store/attempt_outcome.cpp
    store/column_codec.cpp
    store/database.cpp
    store/export.cpp
    store/line_queries.cpp
    store/lock_file.cpp
    store/log_queries.cpp
    store/log_search.cpp
    store/log_severity.cpp
    store/pyramid.cpp
    store/queue_rows.cpp
    store/rank_ranges.cpp
    store/read_failures.cpp
    store/record_writer.cpp
    store/recover.cpp
    store/run_lines.cpp
    store/run_metrics.cpp
    store/run_queries.cpp
    store/run_summary.cpp
    store/schema.cpp
    store/schema_rescue.cpp
    store/step_samples.cpp
    store/store_reader.cpp
    store/store_writer.cpp
    store/stream_reader.cpp
    store/stream_rows.cpp
    store/stream_writer.cpp
    store/trace_rows.cpp
    store/writer_thread.cpp)
target_compile_definitions(rm_store PRIVATE RINGMASTER_RELEASE="${PROJECT_VERSION}")
target_link_libraries(rm_store PUBLIC Qt6::Core rm_shared SQLiteCpp PkgConfig::SQLITE3 PkgConfig::ZSTD)
rm_unity(rm_store)
target_link_libraries(rm_core PUBLIC rm_store)
# The loops over byte planes need vectorizing, which -O2 does not do for loops of unknown length.
set_source_files_properties(store/column_codec.cpp PROPERTIES COMPILE_OPTIONS
    $<$<NOT:$<CONFIG:Debug>>:-O3>)
