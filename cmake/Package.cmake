# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# `./run package`: Debian packages (tile: the tools and libtilert; tile-dev: to build programs with it; tile-compiler:
# libtilec) and one archive
# that runs from any folder.
set(CPACK_PACKAGE_NAME tile)
set(CPACK_PACKAGE_VENDOR "The tile authors")
set(CPACK_PACKAGE_CONTACT "The tile authors <tile@localhost>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "compiler for GPU kernels written in a Triton-like language")
set(CPACK_PACKAGE_DESCRIPTION
    "tilec compiles a kernel to a cubin or PTX that describes itself, without Python, GPU or driver; tile-run runs it on a GPU or in a simulator; libtilert launches it from C and C++.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_VERBATIM_VARIABLES ON)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_OUTPUT_FILE_PREFIX ${PROJECT_BINARY_DIR}/package)
set(CPACK_COMPONENTS_ALL tools dev compiler)
set(CPACK_GENERATOR "DEB;TGZ")
set(CPACK_THREADS 0)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/cmake/PackageArchive.cmake)
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/cmake/PackageGenerator.cmake)
string(TOLOWER ${CMAKE_SYSTEM_NAME} package_system)
set(CPACK_SYSTEM_NAME ${package_system}-${CMAKE_SYSTEM_PROCESSOR})

# The archive contains everything in one folder; the packages are separate.
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON) # and run ldconfig
set(CPACK_DEBIAN_TOOLS_PACKAGE_NAME tile)
set(CPACK_DEBIAN_DEV_PACKAGE_NAME tile-dev)
set(CPACK_DEBIAN_COMPILER_PACKAGE_NAME tile-compiler)
set(CPACK_COMPONENT_COMPILER_DESCRIPTION "The compiler as a library, with its headers: source text in memory becomes an artifact in memory.")
set(CPACK_COMPONENT_DEV_DESCRIPTION "Header, library and CMake package for programs that launch kernels compiled by tilec.")
# The newest symbol of libc that tilec needs is arc4random.
set(CPACK_DEBIAN_TOOLS_PACKAGE_DEPENDS "libc6 (>= 2.36)")
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "tile (= ${PROJECT_VERSION})")
set(CPACK_DEBIAN_COMPILER_PACKAGE_DEPENDS "tile-dev (= ${PROJECT_VERSION}), libc6 (>= 2.36)")
set(CPACK_DEBIAN_DEV_PACKAGE_SUGGESTS "cmake")
# For tilec verify, which loads it.
set(CPACK_DEBIAN_TOOLS_PACKAGE_RECOMMENDS "libz3-4")
include(CPack)
