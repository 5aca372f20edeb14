# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Read by cpack once for each generator.
if(CPACK_GENERATOR STREQUAL "TGZ")
  set(CPACK_PACKAGING_INSTALL_PREFIX /) # the archive has no /usr inside
endif()
