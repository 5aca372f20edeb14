# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tile_library(<name> [COLD] SOURCES ... [LINK ...] [BATCH n]) plain C++ library: no LLVM, no MLIR on its include path; COLD: not
#                                                             optimised, for what never takes the time of a user
# tile_mlir_library(<name> SOURCES ... [LINK ...] [BATCH n])  library that uses LLVM/MLIR, built with the shared precompiled header
#
# TILE_UNITY compiles a library's files in batches: most of the time of a file that includes MLIR goes into templates that
# the others instantiate as well. BATCH is the number of files in one; the default keeps a rebuild after a change in one
# file short. The preset "single" compiles each file alone, to find missing includes.
option(TILE_UNITY "compile the files of a library in batches" ON)

function(tile_unity name batch)
  if(TILE_UNITY AND batch GREATER 1)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${batch})
  endif()
endfunction()

add_library(tile_options INTERFACE)
target_compile_features(tile_options INTERFACE cxx_std_20)
target_include_directories(tile_options INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}
                           ${PROJECT_SOURCE_DIR}/lib)
# Assertions name their file as it is in the repository: the same sources make the same packages, wherever they are built.
target_compile_options(tile_options INTERFACE -ffile-prefix-map=${PROJECT_SOURCE_DIR}/=)
# libstdc++ 12 deprecates a function that its own std::stable_sort uses.
target_compile_options(tile_options INTERFACE -Wall -Wextra -Wno-unused-parameter -Wno-deprecated-declarations -UNDEBUG)
# One self-contained binary runs on machines with another libstdc++.
target_link_options(tile_options INTERFACE -static-libstdc++ -static-libgcc)

# fmt with its functions compiled once: inside each file that formats they would take 3 to 6 s. Debian has a shared
# library, and what is installed needs none but libc. Fmt.cpp is that of version 9; a later one is used as headers.
if(fmt_VERSION MATCHES "^9\\.")
  add_library(tile_fmt STATIC ${PROJECT_SOURCE_DIR}/cmake/Fmt.cpp)
  target_link_libraries(tile_fmt PRIVATE tile_options)
  target_include_directories(tile_fmt SYSTEM PUBLIC $<TARGET_PROPERTY:fmt::fmt,INTERFACE_INCLUDE_DIRECTORIES>)
else()
  add_library(tile_fmt INTERFACE)
  target_link_libraries(tile_fmt INTERFACE fmt::fmt-header-only)
endif()

# A precompiled header fits one level of optimisation. Files that use it are position-independent, also in executables.
function(tile_add_pch name)
  cmake_parse_arguments(ARG "" "" "HEADERS;LINK;OPTIONS" ${ARGN})
  add_library(${name} STATIC ${PROJECT_SOURCE_DIR}/cmake/Precompiled.cpp)
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS} "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
  target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
endfunction()

function(tile_use_pch target pch)
  target_precompile_headers(${target} REUSE_FROM ${pch})
  target_compile_options(${target} PRIVATE -fPIC ${ARGN} "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endfunction()

# Headers that plain C++ files include most. The preset "single" does without, so that it finds missing includes.
set(tile_plain_headers <algorithm> <array> <cstdint> <functional> <map> <memory> <optional> <set> <span> <string> <string_view>
                       <unordered_map> <variant> <vector> <fmt/format.h> <nlohmann/json.hpp>)
set(tile_plain_libraries tile_options tile_fmt nlohmann_json::nlohmann_json)
tile_add_pch(tile_plain_pch HEADERS ${tile_plain_headers} LINK ${tile_plain_libraries})

function(tile_library name)
  cmake_parse_arguments(ARG "COLD" "BATCH" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tile_options ${ARG_LINK})
  if(ARG_COLD)
    target_compile_options(${name} PRIVATE -O0)
  endif()
  if(TILE_UNITY AND ARG_COLD)
    tile_use_pch(${name} tile_cold_pch)
  elseif(TILE_UNITY)
    tile_use_pch(${name} tile_plain_pch)
  endif()
  if(NOT ARG_BATCH)
    set(ARG_BATCH 12)
  endif()
  tile_unity(${name} ${ARG_BATCH})
endfunction()

if(NOT TILE_COMPILER)
  return()
endif()

tile_add_pch(tile_cold_pch HEADERS ${tile_plain_headers} <CLI/CLI.hpp> LINK ${tile_plain_libraries} CLI11::CLI11 OPTIONS -O0)

add_library(tile_mlir_options INTERFACE)
target_link_libraries(tile_mlir_options INTERFACE tile_options)
target_include_directories(tile_mlir_options SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_include_directories(tile_mlir_options INTERFACE ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/dialects
                           ${PROJECT_BINARY_DIR}/dialects ${PROJECT_BINARY_DIR}/lib)
separate_arguments(tile_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(tile_mlir_options INTERFACE ${tile_llvm_definitions})

# With the usual threshold tilec takes 3 to 6 % less before ptxas, and the build of these libraries a tenth more
# (bench/results/build-time.md).
set(tile_mlir_level $<$<CONFIG:Release>:-O1> "$<$<CXX_COMPILER_ID:Clang>:SHELL:-mllvm -inline-threshold=25>")
tile_add_pch(tile_pch HEADERS ${PROJECT_SOURCE_DIR}/cmake/Precompiled.h LINK tile_mlir_options OPTIONS ${tile_mlir_level})
add_dependencies(tile_pch tile_headers) # the dialects' generated classes are in it

function(tile_mlir_library name)
  cmake_parse_arguments(ARG "" "BATCH" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tile_mlir_options ${ARG_LINK})
  tile_use_pch(${name} tile_pch ${tile_mlir_level})
  add_dependencies(${name} tile_headers ${ARG_DEPENDS})
  if(NOT ARG_BATCH)
    set(ARG_BATCH 12)
  endif()
  tile_unity(${name} ${ARG_BATCH})
endfunction()

# All generated headers; every MLIR library waits for them.
add_custom_target(tile_headers)
