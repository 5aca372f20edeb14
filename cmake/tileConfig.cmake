# The installed package: the library tile::tilert, the compiler tile::tilec, and kernels in the build of a program.
include(${CMAKE_CURRENT_LIST_DIR}/tileTargets.cmake)

# tile_add_kernel(TARGET FILE.tile [HEADER NAME.h] [TILEC_OPTION...])
# Compiles a kernel when TARGET is built: its code and functions to load and launch it are in a header, for which TARGET
# has the include path, and TARGET links to tile::tilert. The header is named after the file, or after the kernel where
# the file has several and --kernel=KERNEL chooses one.
function(tile_add_kernel target source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "HEADER" "")
  set(header ${arg_HEADER})
  if(NOT header)
    cmake_path(GET source STEM name)
    foreach(option IN LISTS arg_UNPARSED_ARGUMENTS)
      if(option MATCHES "^--kernel=(.+)$")
        set(name ${CMAKE_MATCH_1})
      endif()
    endforeach()
    set(header ${name}.h)
  endif()
  # A folder for each target: two may have the same kernel, with different options.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  add_custom_command(
    OUTPUT ${folder}/${header}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND tile::tilec ${source} ${arg_UNPARSED_ARGUMENTS} --emit=header -o ${folder}/${header}
    DEPENDS ${source} tile::tilec
    COMMENT "Compiling ${header}"
    VERBATIM)
  target_sources(${target} PRIVATE ${folder}/${header})
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE tile::tilert)
endfunction()
