# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Shell completion and manual pages, generated from the tools' option tables and installed in the standard folders.
set(shell_folder ${PROJECT_BINARY_DIR}/shell)
set(shell_script ${PROJECT_SOURCE_DIR}/tools/dev/make-shell.sh)
add_custom_command(OUTPUT ${shell_folder}/tilec.1
                   COMMAND ${shell_script} $<TARGET_FILE_DIR:tilec> ${shell_folder}
                   DEPENDS ${shell_script} tilec tile-run VERBATIM)
add_custom_target(shell-files ALL DEPENDS ${shell_folder}/tilec.1)
foreach(tool tilec tile-run)
  install(FILES ${shell_folder}/${tool}.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions COMPONENT tools RENAME ${tool})
  install(FILES ${shell_folder}/_${tool} DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions COMPONENT tools)
  install(FILES ${shell_folder}/${tool}.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d COMPONENT tools)
  install(FILES ${shell_folder}/${tool}.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT tools)
endforeach()
