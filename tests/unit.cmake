# SPDX-License-Identifier: MIT
# What is tested without MPI: unit tests (one file a module), golden records, and the fuzz targets over their corpora.
# Adding a unit test is adding unit/test_<module>.c; adding a fuzz target is adding fuzz/fuzz_<what>.c and fuzz/corpus/<what>/.
set(UNIT_DIR ${CMAKE_CURRENT_LIST_DIR})

include(CheckCSourceCompiles)
set(CMAKE_REQUIRED_FLAGS -fsanitize=address,undefined)
check_c_source_compiles("int main(void) { return 0; }" HAVE_SANITIZERS)
unset(CMAKE_REQUIRED_FLAGS)

# The core once more under the sanitizers, for hostile input and failing allocations.
add_library(core_checked STATIC EXCLUDE_FROM_ALL ${CORE_SOURCES})
target_include_directories(core_checked PUBLIC ${CMAKE_SOURCE_DIR}/src ${CMAKE_SOURCE_DIR}/include)
set_source_files_properties(${CMAKE_SOURCE_DIR}/src/base/installed.c PROPERTIES COMPILE_DEFINITIONS "RP_LIBRARY_FOLDER=\"${REPRISE_LIBRARY_FOLDER}\"")
target_link_libraries(core_checked PUBLIC PkgConfig::ZSTD PkgConfig::ZLIB PkgConfig::UNWIND Threads::Threads ${CMAKE_DL_LIBS})
target_compile_options(core_checked PUBLIC $<$<NOT:$<CONFIG:Debug>>:-O1> -g)
if(HAVE_SANITIZERS)
  target_compile_options(core_checked PUBLIC -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  target_link_options(core_checked PUBLIC -fsanitize=address,undefined)
endif()

add_custom_target(unit_tests) # no more than these
function(add_unit_test source library)
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^test_" "" module ${name})
  add_executable(unit_${module} ${source})
  add_dependencies(tests unit_${module})
  add_dependencies(unit_tests unit_${module})
  target_link_libraries(unit_${module} PRIVATE ${library})
  target_include_directories(unit_${module} PRIVATE ${UNIT_DIR}/model)
  set_target_properties(unit_${module} PROPERTIES OUTPUT_NAME ${module} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/unit)
  add_test(NAME unit.${module} COMMAND unit_${module})
  set_tests_properties(unit.${module} PROPERTIES TIMEOUT 600) # on a loaded machine
  if(REPRISE_SANITIZE)
    set_tests_properties(unit.${module} PROPERTIES ENVIRONMENT ASAN_OPTIONS=allocator_may_return_null=1)
  endif()
endfunction()

file(GLOB UNIT_SOURCES CONFIGURE_DEPENDS ${UNIT_DIR}/unit/test_*.c)
list(FILTER UNIT_SOURCES EXCLUDE REGEX "/test_memory\\.c$")
foreach(source ${UNIT_SOURCES})
  add_unit_test(${source} report)
endforeach()
target_link_libraries(unit_tasks PRIVATE tasks_core)

# Allocations that fail: every one of them in turn. What --wrap sees is what the core itself calls.
add_unit_test(${UNIT_DIR}/unit/test_memory.c core_checked)
foreach(function malloc aligned_alloc calloc realloc free strdup strndup asprintf)
  target_link_options(unit_memory PRIVATE -Wl,--wrap=${function})
endforeach()
target_compile_options(unit_memory PRIVATE -fno-builtin)
set_tests_properties(unit.memory PROPERTIES ENVIRONMENT ASAN_OPTIONS=detect_leaks=0) # it counts by itself; the tool takes seconds
target_compile_options(core_checked PRIVATE -fno-builtin)

# Golden records.
add_executable(golden_make ${UNIT_DIR}/golden/make.c)
add_dependencies(tests golden_make)
target_link_libraries(golden_make PRIVATE core)
set_target_properties(golden_make PROPERTIES OUTPUT_NAME make RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/golden)
add_test(NAME golden COMMAND ${UNIT_DIR}/golden/check $<TARGET_FILE:reprise> $<TARGET_FILE:golden_make>)

# Records of any size, for the tests of the page.
add_executable(page_records ${UNIT_DIR}/page/records.c)
add_dependencies(tests page_records)
target_link_libraries(page_records PRIVATE core)
set_target_properties(page_records PROPERTIES OUTPUT_NAME records RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/page)

# Fuzz targets, over their corpora; fuzz/build makes the real ones.
file(GLOB FUZZ_SOURCES CONFIGURE_DEPENDS ${UNIT_DIR}/fuzz/fuzz_*.c)
foreach(source ${FUZZ_SOURCES})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "^fuzz_" "" what ${name})
  add_executable(${name} ${source} ${UNIT_DIR}/fuzz/driver.c)
  add_dependencies(tests ${name})
  target_include_directories(${name} PRIVATE ${UNIT_DIR}/model)
  target_link_libraries(${name} PRIVATE core_checked)
  set_target_properties(${name} PROPERTIES OUTPUT_NAME ${what} RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/tests/fuzz)
  add_test(NAME fuzz.${what} COMMAND ${name} ${UNIT_DIR}/fuzz/corpus/${what})
  set_tests_properties(fuzz.${what} PROPERTIES TIMEOUT 60 ENVIRONMENT ASAN_OPTIONS=detect_leaks=0) # leaks are for fuzz/build to find
endforeach()
target_sources(fuzz_tasks PRIVATE ${TASK_SOURCES})
set(REPORT_DIR ${CMAKE_SOURCE_DIR}/src/report)
target_sources(fuzz_given PRIVATE ${REPORT_DIR}/outputs_diff.c ${REPORT_DIR}/callsites.c ${REPORT_DIR}/intern.c)
target_sources(fuzz_who PRIVATE ${REPORT_DIR}/attribution.c ${REPORT_DIR}/write_index.c)
target_sources(fuzz_recovery PRIVATE ${REPORT_DIR}/recovery.c ${REPORT_DIR}/recoveryprint.c ${REPORT_DIR}/output.c)
