# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# External libraries: static LLVM/MLIR 22 for the compiler; small header libraries for the runner.

option(TILE_CCACHE "compile through ccache where it is installed" ON)
find_program(CCACHE_PROGRAM ccache)
if(TILE_CCACHE AND CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Without this sloppiness, ccache never uses a file compiled with a precompiled header. A miss needs no preprocessing.
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros CCACHE_DEPEND=1
                                  ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# Installed programs need no system library other than libc.
set(ZLIB_USE_STATIC_LIBS ON)
if(TILE_COMPILER)
  # Debian's version file refuses "22" but accepts "22.1".
  find_package(MLIR 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22/lib/cmake/mlir)
  list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)

  # Debian exports every static MLIR library with a dependency on libLLVM.so; static and shared LLVM in one process
  # free global state twice. Link the static components instead (cmake/TileLibrary.cmake).
  set(LLVM_LINK_LLVM_DYLIB OFF)
  foreach(target ${MLIR_EXPORTED_TARGETS})
    if(TARGET ${target})
      get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
      if(libraries)
        list(REMOVE_ITEM libraries LLVM "$<LINK_ONLY:LLVM>")
        set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
      endif()
    endif()
  endforeach()
  get_target_property(libraries LLVMSupport INTERFACE_LINK_LIBRARIES)
  list(TRANSFORM libraries REPLACE zstd::libzstd_shared zstd::libzstd_static)
  set_target_properties(LLVMSupport PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
  find_package(CLI11 2.1 REQUIRED)
  if(PROJECT_IS_TOP_LEVEL)
    find_package(GTest REQUIRED)
  endif()
endif()

find_package(Threads REQUIRED)
# A project that contains tile may define these two itself.
if(NOT TARGET nlohmann_json::nlohmann_json)
  find_package(nlohmann_json 3.11 REQUIRED)
endif()
if(NOT TARGET fmt::fmt-header-only)
  find_package(fmt 9 REQUIRED)
endif()
# The static library, so that libtilert and tile-run start without libzstd.so. LLVM's package may already define it.
if(NOT TARGET zstd::libzstd_static)
  find_path(zstd_INCLUDE_DIR zstd.h REQUIRED)
  find_library(zstd_STATIC_LIBRARY libzstd.a REQUIRED)
  add_library(zstd::libzstd_static STATIC IMPORTED)
  set_target_properties(zstd::libzstd_static PROPERTIES IMPORTED_LOCATION ${zstd_STATIC_LIBRARY}
                        INTERFACE_INCLUDE_DIRECTORIES ${zstd_INCLUDE_DIR})
endif()
