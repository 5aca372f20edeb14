# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Files that `cmake --install` adds to the tools, libtilert and its header: the package that find_package(tile) finds, and the
# examples.
include(CMakePackageConfigHelpers)
set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/tile)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/tileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(EXPORT tileTargets NAMESPACE tile:: DESTINATION ${package_folder} COMPONENT dev)
install(FILES cmake/tileConfig.cmake cmake/TileAddKernel.cmake ${PROJECT_BINARY_DIR}/tileConfigVersion.cmake DESTINATION ${package_folder} COMPONENT dev)
set(libraries "tilert|dev" "tiledist|dev")
if(TILE_COMPILER)
  install(EXPORT tileCompilerTargets NAMESPACE tile:: DESTINATION ${package_folder} COMPONENT compiler)
  list(APPEND libraries "tilec|compiler" "tilejit|compiler")
  # The licence of the library in the pages of tile-run plot.
  install(FILES lib/Lab/Results/Page/echarts.LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools)
endif()
# pkg-config: one file for each library.
file(RELATIVE_PATH pc_to_prefix /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
foreach(library IN LISTS libraries)
  string(REPLACE "|" ";" library ${library})
  list(POP_FRONT library name component)
  configure_file(cmake/library.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT ${component})
endforeach()
install(DIRECTORY examples/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tile/examples COMPONENT tools)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT tools RENAME copyright)
