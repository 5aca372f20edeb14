# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# tile_add_kernel(TARGET FILE.tile [NAME NAME] [HEADER FILE.h] [[OPTIONS] TILEC_OPTION...])
# Compiles a kernel when TARGET is built, and again when its source or a module that it imports has changed: its code and
# functions to load and launch it are in a header, for which TARGET has the include path, and TARGET links to
# tile::tilert. The functions are NAME_load and NAME_launch, the header is NAME.h; without a NAME they are named after
# the kernel, and the header after the file, or after the kernel where the file has several and --kernel=KERNEL chooses
# one. So one kernel with other options, say other types, needs a NAME for each. Options are those of tilec: --target=
# sm_80,sm_90a for two GPUs, --variants=none for one kernel instead of several of which a launch takes the fastest, -j 1
# where the build compiles many kernels at a time.
cmake_policy(PUSH)
cmake_policy(VERSION 3.20) # dependency files are read by all generators
function(tile_add_kernel target source)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "HEADER;NAME" "OPTIONS")
  set(tilec tile::tilec)
  if(NOT TARGET tile::tilec)
    find_program(TILE_TILEC tilec REQUIRED DOC "the compiler of kernels, where tile was built without one")
    set(tilec ${TILE_TILEC})
  endif()
  set(header ${arg_HEADER})
  set(options ${arg_UNPARSED_ARGUMENTS} ${arg_OPTIONS})
  if(arg_NAME)
    list(APPEND options --header-name=${arg_NAME})
    if(NOT header)
      set(header ${arg_NAME}.h)
    endif()
  endif()
  if(NOT header)
    cmake_path(GET source STEM name)
    foreach(option IN LISTS options)
      if(option MATCHES "^--kernel=(.+)$")
        set(name ${CMAKE_MATCH_1})
      endif()
    endforeach()
    set(header ${name}.h)
  endif()
  # A folder for each target: two may have the same kernel, with different options.
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  get_target_property(headers ${target} TILE_KERNEL_HEADERS)
  if("${folder}/${header}" IN_LIST headers)
    message(FATAL_ERROR "tile_add_kernel: target '${target}' has a kernel '${header}' already; give this one a NAME")
  endif()
  set_property(TARGET ${target} APPEND PROPERTY TILE_KERNEL_HEADERS ${folder}/${header})
  cmake_path(ABSOLUTE_PATH source BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
  add_custom_command(
    OUTPUT ${folder}/${header}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${tilec} ${source} ${options} --emit=header -o ${folder}/${header} -MD -MF ${folder}/${header}.d
    DEPENDS ${source} ${tilec}
    DEPFILE ${folder}/${header}.d
    COMMENT "Compiling ${header}"
    VERBATIM)
  target_sources(${target} PRIVATE ${folder}/${header})
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE tile::tilert)
endfunction()
# tile_add_kernels(TARGET NAME KERNELS [KERNEL=]FILE... [[OPTIONS] TILEC_OPTION...])
# Compiles several kernels into one pack, NAME.h: NAME_load loads all of them, and each has KERNEL_launch. A FILE is a
# source, of which all kernels with launch directives and all instances are taken, or an artifact of tilec. The code of
# the kernels is in one source file, which this function generates and adds to TARGET. Options of two words (-D X=1)
# must follow OPTIONS.
function(tile_add_kernels target name)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "KERNELS;OPTIONS")
  if(NOT arg_KERNELS)
    message(FATAL_ERROR "tile_add_kernels: no KERNELS; expected tile_add_kernels(TARGET NAME KERNELS FILE...)")
  endif()
  set(tilec tile::tilec)
  if(NOT TARGET tile::tilec)
    find_program(TILE_TILEC tilec REQUIRED DOC "the compiler of kernels, where tile was built without one")
    set(tilec ${TILE_TILEC})
  endif()
  # Words that begin with a dash, and their values, are options of tilec even after KERNELS.
  set(inputs)
  set(files)
  set(options ${arg_UNPARSED_ARGUMENTS} ${arg_OPTIONS})
  foreach(word IN LISTS arg_KERNELS)
    if(word MATCHES "^-")
      list(APPEND options ${word})
      continue()
    endif()
    set(prefix)
    set(file ${word})
    if(word MATCHES "^([A-Za-z0-9_.+-]+)=(.+)$")
      set(prefix ${CMAKE_MATCH_1}=)
      set(file ${CMAKE_MATCH_2})
    endif()
    cmake_path(ABSOLUTE_PATH file BASE_DIRECTORY ${CMAKE_CURRENT_SOURCE_DIR})
    list(APPEND files ${file})
    list(APPEND inputs ${prefix}${file})
  endforeach()
  set(folder ${CMAKE_CURRENT_BINARY_DIR}/${target}.kernels)
  set(header ${folder}/${name}.h)
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  set(code ${folder}/${name}_pack.c)
  if(NOT "C" IN_LIST languages)
    set(code ${folder}/${name}_pack.cpp)
  endif()
  string(TOUPPER ${name} macro)
  file(CONFIGURE OUTPUT ${code} CONTENT "#define ${macro}_IMPLEMENTATION\n#include \"${name}.h\"\n" @ONLY)
  add_custom_command(
    OUTPUT ${header}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${folder}
    COMMAND ${tilec} ${inputs} ${options} --emit=header --header-name=${name} -o ${header} -MD -MF ${header}.d
    DEPENDS ${files} ${tilec}
    DEPFILE ${header}.d
    COMMENT "Compiling ${name}.h"
    VERBATIM)
  set_source_files_properties(${code} PROPERTIES OBJECT_DEPENDS ${header})
  target_sources(${target} PRIVATE ${header} ${code})
  target_include_directories(${target} PRIVATE ${folder})
  target_link_libraries(${target} PRIVATE tile::tilert)
endfunction()
cmake_policy(POP)
