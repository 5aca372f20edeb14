# The installed package: the library tile::tilert, the compiler tile::tilec, and kernels in the build of a program.
include(${CMAKE_CURRENT_LIST_DIR}/tileTargets.cmake)

# tile_add_kernel(TARGET FILE.tile [TILEC_OPTION...])
# Compiles a kernel when TARGET is built: its code and functions to load and launch it are in FILE.h, for which TARGET
# has the include path, and TARGET links to tile::tilert. Give --kernel=NAME where the file has several.
function(tile_add_kernel target source)
  cmake_path(GET source STEM name)
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  set(header ${CMAKE_CURRENT_BINARY_DIR}/${name}.h)
  add_custom_command(
    OUTPUT ${header}
    COMMAND tile::tilec ${source} ${ARGN} --emit=header -o ${header}
    DEPENDS ${source} tile::tilec
    COMMENT "Compiling ${name}.tile"
    VERBATIM)
  target_sources(${target} PRIVATE ${header})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
  target_link_libraries(${target} PRIVATE tile::tilert)
endfunction()
