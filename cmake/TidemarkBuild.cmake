# How every target of Tidemark is compiled: C++20, warnings as errors, one set of helpers.
#
#   tm_library(NAME tm_wal ROLE core|driver SOURCES ... DEPS ...)
#   tm_test(NAME wal_format_test LABELS unit SOURCES ... DEPS ... [ARGS ...] [TIMEOUT s])
#
# ROLE core: no Asio, ZooKeeper, librdkafka, RocksDB, clock or thread header; tests/dependencies checks it.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)

set(CMAKE_CXX_FLAGS_RELEASE "-O2 -g1")
set(CMAKE_CXX_FLAGS_DEBUG "-O1 -g1")

set(TIDEMARK_SANITIZE "" CACHE STRING "sanitizers, comma separated: address,undefined or thread")
if(TIDEMARK_SANITIZE)
  add_compile_options(-fsanitize=${TIDEMARK_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  # g++ sees uninitialized values in the sanitizers' own additions.
  add_compile_options(-Wno-maybe-uninitialized)
  if(TIDEMARK_SANITIZE MATCHES undefined)
    # What the address sanitizer, or the machine itself, finds as well; a third of the time to compile.
    add_compile_options(-fno-sanitize=null,vptr,object-size,alignment)
  endif()
  add_link_options(-fsanitize=${TIDEMARK_SANITIZE})
endif()

option(TIDEMARK_MUTATIONS "deliberate bugs that can be switched on, for tests/simulation/mutations" OFF)
if(TIDEMARK_MUTATIONS)
  add_compile_definitions(TIDEMARK_MUTATIONS)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # Paths relative to the clone: what one has compiled serves the others.
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=true ${CCACHE_PROGRAM})
endif()

# Links three times as fast as the default linker; comes with binutils.
find_program(GOLD_PROGRAM ld.gold)
if(GOLD_PROGRAM)
  add_link_options(-fuse-ld=gold)
endif()

# Presets that are built as a whole compile several files of a target as one: half the time. A name in an anonymous
# namespace is then its target's own.
set(CMAKE_UNITY_BUILD_BATCH_SIZE 8)

add_library(tm_warnings INTERFACE)
target_compile_options(tm_warnings INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wnon-virtual-dtor -Wimplicit-fallthrough
                                             -Wswitch -Werror)
if(CMAKE_UNITY_BUILD)
  target_compile_options(tm_warnings INTERFACE -Wno-subobject-linkage)
  # They include each other by full paths, which would make what one clone has compiled useless to the others.
  add_compile_options(-fmacro-prefix-map=${PROJECT_SOURCE_DIR}=.)
endif()

# Names of the core targets and of all libraries, for the checks in tests/dependencies.
set_property(GLOBAL PROPERTY TM_CORE_TARGETS "")
set_property(GLOBAL PROPERTY TM_LIBRARIES "")

function(tm_library)
  cmake_parse_arguments(ARG "" "NAME;ROLE" "SOURCES;DEPS;PRIVATE_DEPS" ${ARGN})
  if(NOT ARG_ROLE MATCHES "^(core|driver)$")
    message(FATAL_ERROR "tm_library(${ARG_NAME}): ROLE must be core or driver")
  endif()
  set_property(GLOBAL APPEND PROPERTY TM_LIBRARIES ${ARG_NAME})
  if(ARG_SOURCES)
    add_library(${ARG_NAME} STATIC ${ARG_SOURCES})
    target_include_directories(${ARG_NAME} PUBLIC ${PROJECT_SOURCE_DIR})
    target_link_libraries(${ARG_NAME} PUBLIC ${ARG_DEPS} PRIVATE ${ARG_PRIVATE_DEPS} tm_warnings)
    if(ARG_ROLE STREQUAL "core")
      set_property(GLOBAL APPEND PROPERTY TM_CORE_TARGETS ${ARG_NAME})
    endif()
  else()
    add_library(${ARG_NAME} INTERFACE)
    target_include_directories(${ARG_NAME} INTERFACE ${PROJECT_SOURCE_DIR})
    target_link_libraries(${ARG_NAME} INTERFACE ${ARG_DEPS})
  endif()
endfunction()

# Every label has a target tests_<label> that builds its tests alone; deploy/ and .ci/ name the ones in use.
function(tm_test)
  cmake_parse_arguments(ARG "" "NAME;TIMEOUT" "SOURCES;DEPS;LABELS;ARGS;PROPERTIES" ${ARGN})
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 120)
  endif()
  add_executable(${ARG_NAME} ${ARG_SOURCES})
  target_include_directories(${ARG_NAME} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${ARG_NAME} PRIVATE ${ARG_DEPS} tm_warnings GTest::gmock GTest::gtest_main)
  add_test(NAME ${ARG_NAME} COMMAND ${ARG_NAME} ${ARG_ARGS})
  foreach(label IN LISTS ARG_LABELS)
    tm_label_target(${label})
    add_dependencies(tests_${label} ${ARG_NAME})
  endforeach()
  set_tests_properties(${ARG_NAME} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${ARG_TIMEOUT} ${ARG_PROPERTIES})
endfunction()

function(tm_label_target label)
  if(NOT TARGET tests_${label})
    add_custom_target(tests_${label})
  endif()
endfunction()
foreach(label unit property sim fuzz driver)
  tm_label_target(${label})
endforeach()
