# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# The installed package: the libraries tile::tilert and tile::tiledist, the compiler tile::tilec, and kernels in the build of a program.
include(${CMAKE_CURRENT_LIST_DIR}/tileTargets.cmake)
# tile::libtilec, of the package tile-compiler: the compiler as a library.
include(${CMAKE_CURRENT_LIST_DIR}/tileCompilerTargets.cmake OPTIONAL RESULT_VARIABLE tile_compiler_FOUND)
if(tile_FIND_REQUIRED_compiler AND NOT tile_compiler_FOUND)
  set(tile_FOUND FALSE)
  set(tile_NOT_FOUND_MESSAGE "libtilec is not installed: it is in the package tile-compiler")
endif()

include(${CMAKE_CURRENT_LIST_DIR}/TileAddKernel.cmake)
# The folder of the kernels of tile::tiledist.
find_path(TILE_DISTRIBUTED_KERNELS gemm_wait.tile NO_DEFAULT_PATH
          PATHS ${CMAKE_CURRENT_LIST_DIR}/../../.. ${CMAKE_CURRENT_LIST_DIR}/../../../.. PATH_SUFFIXES share/tile/distributed)
