# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# docs-reference: the reference of operations, attributes, types and passes in build/docs, from the .td files. It is built
# with everything else, since a test reads it, and takes no time.
set(reference_sources dialects/Tile dialects/Cta lib/Transforms lib/Conversion)
list(TRANSFORM reference_sources PREPEND ${PROJECT_BINARY_DIR}/)
list(TRANSFORM reference_sources APPEND /Reference.md)
set(reference_script ${PROJECT_SOURCE_DIR}/tools/dev/make-reference.sh)
add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/docs/README.md
                   COMMAND ${reference_script} ${PROJECT_BINARY_DIR}/docs ${reference_sources}
                   DEPENDS ${reference_script} ${reference_sources} tile_headers VERBATIM)
add_custom_target(docs-reference ALL DEPENDS ${PROJECT_BINARY_DIR}/docs/README.md)
