# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tile_library(<name> SOURCES ... [LINK ...] [BATCH n])       plain C++ library: no LLVM, no MLIR on its include path
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

function(tile_library name)
  cmake_parse_arguments(ARG "" "BATCH" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tile_options ${ARG_LINK})
  if(NOT ARG_BATCH)
    set(ARG_BATCH 8)
  endif()
  tile_unity(${name} ${ARG_BATCH})
endfunction()

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

if(NOT TILE_COMPILER)
  return()
endif()

add_library(tile_mlir_options INTERFACE)
target_link_libraries(tile_mlir_options INTERFACE tile_options)
target_include_directories(tile_mlir_options SYSTEM INTERFACE ${MLIR_INCLUDE_DIRS} ${LLVM_INCLUDE_DIRS})
target_include_directories(tile_mlir_options INTERFACE ${PROJECT_BINARY_DIR} ${PROJECT_SOURCE_DIR}/dialects
                           ${PROJECT_BINARY_DIR}/dialects ${PROJECT_BINARY_DIR}/lib)
target_compile_options(tile_mlir_options INTERFACE "$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
separate_arguments(tile_llvm_definitions NATIVE_COMMAND "${LLVM_DEFINITIONS}")
target_compile_definitions(tile_mlir_options INTERFACE ${tile_llvm_definitions})

add_library(tile_pch STATIC ${PROJECT_SOURCE_DIR}/cmake/Precompiled.cpp)
target_link_libraries(tile_pch PUBLIC tile_mlir_options)
target_precompile_headers(tile_pch PRIVATE ${PROJECT_SOURCE_DIR}/cmake/Precompiled.h)
add_dependencies(tile_pch tile_headers) # the dialects' generated classes are in it

function(tile_mlir_library name)
  cmake_parse_arguments(ARG "" "BATCH" "SOURCES;LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tile_mlir_options ${ARG_LINK})
  target_precompile_headers(${name} REUSE_FROM tile_pch)
  add_dependencies(${name} tile_headers ${ARG_DEPENDS})
  if(NOT ARG_BATCH)
    set(ARG_BATCH 6)
  endif()
  tile_unity(${name} ${ARG_BATCH})
endfunction()

# All generated headers; every MLIR library waits for them.
add_custom_target(tile_headers)
