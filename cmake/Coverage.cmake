# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tile-fuzz-kernels-coverage: tile-fuzz-kernels with lib/Transforms and lib/Conversion compiled a second time, so that
# they count which lines run (tools/dev/coverage.sh). Their archives come first when it is linked, and define all that
# the plain ones do, so everything else is what any other build has compiled.
if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  return()
endif()

# A kernel runs in a process that is forked and may die: counters are written as they change.
set(tile_coverage_flags -fprofile-instr-generate -fcoverage-mapping -fprofile-continuous)

function(tile_counted_library name)
  get_target_property(sources ${name} SOURCES)
  get_target_property(libraries ${name} INTERFACE_LINK_LIBRARIES)
  list(REMOVE_ITEM libraries tile_mlir_options)
  tile_mlir_library(${name}_counted SOURCES ${sources} LINK ${libraries})
  target_compile_options(${name}_counted PRIVATE ${tile_coverage_flags})
  set_target_properties(${name}_counted PROPERTIES EXCLUDE_FROM_ALL ON)
endfunction()

tile_counted_library(tile_transforms)
tile_counted_library(tile_conversion)
add_executable(tile-fuzz-kernels-coverage EXCLUDE_FROM_ALL ${PROJECT_SOURCE_DIR}/test/fuzz/kernels/Main.cpp)
target_link_libraries(tile-fuzz-kernels-coverage PRIVATE tile_transforms_counted tile_conversion_counted
                      tile_kernel_generator tile_kernel_fuzzer)
target_link_options(tile-fuzz-kernels-coverage PRIVATE -no-pie ${tile_coverage_flags})
set_target_properties(tile-fuzz-kernels-coverage PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
