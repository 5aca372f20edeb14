# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Read by cpack when it has made packages: makes the archive again, from the same files. CPack takes files in the order in which the file system lists
# them, with the owner that they have in the build; here they come by name and belong to root, as in Debian's packages.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(time "")
  if(DEFINED ENV{SOURCE_DATE_EPOCH})
    set(time --mtime=@$ENV{SOURCE_DATE_EPOCH})
  endif()
  cmake_path(GET CPACK_TEMPORARY_DIRECTORY FILENAME folder)
  execute_process(COMMAND tar --create --file=${CPACK_PACKAGE_FILES} --use-compress-program=gzip\ --no-name\ -9 --directory=${CPACK_TOPLEVEL_DIRECTORY}
                          --format=gnu --sort=name --owner=root:0 --group=root:0 ${time} ${folder}
                  COMMAND_ERROR_IS_FATAL ANY)
endif()
