// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Lab/Results/TextProcess.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tile::runner {

using runtime::makeError;
using runtime::Result;

Result<std::string> runWithInput(const std::vector<std::string> &command, const std::string &input) {
  // Uses temporary files instead of pipes, so that neither side can block the other.
  struct Close {
    void operator()(std::FILE *file) const { std::fclose(file); }
  };
  const std::unique_ptr<std::FILE, Close> in(std::tmpfile()), out(std::tmpfile());
  if (!in || !out || std::fwrite(input.data(), 1, input.size(), in.get()) != input.size() || std::fflush(in.get()) != 0)
    return makeError(TILE_ERROR_FILE, "cannot write a temporary file: {}", std::strerror(errno));
  std::rewind(in.get());
  std::vector<char *> words;
  for (const std::string &word : command)
    words.push_back(const_cast<char *>(word.c_str()));
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(in.get()), STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, fileno(out.get()), STDOUT_FILENO);
  pid_t process = 0;
  const int failed = posix_spawnp(&process, words[0], &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed)
    return makeError(TILE_ERROR_FILE, "{}: {}", command[0], std::strerror(failed));
  int status = 0;
  while (waitpid(process, &status, 0) < 0 && errno == EINTR)
    continue;
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
    return makeError(TILE_ERROR_FILE, "{} failed", command[0]);
  std::rewind(out.get());
  std::string text;
  char part[65536];
  for (size_t count = 0; (count = std::fread(part, 1, sizeof(part), out.get())) > 0;)
    text.append(part, count);
  return text;
}

} // namespace tile::runner
