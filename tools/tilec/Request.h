// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One request to the compiler as data, and its answer: what libtilec does in its own process, and `tilec worker` in
// another.
//
//   Request ──prepareRequest──► CommandLine ──answerRequest──► Answer
#pragma once

#include "Options.h"

#include <optional>

namespace tile {

struct Request {
  std::string name; ///< in "<>" where it is not a file
  std::string text;
  std::vector<std::string> options; ///< words as on tilec's command line
};

struct Answer {
  driver::Outcome outcome = driver::Outcome::Internal;
  std::string artifact;
  std::string diagnostics; ///< JSON, see Driver/DiagnosticLog.h; or, of a compiler that has died, its last words
  std::vector<std::string> files;
};

/// As bytes for pipes and files. Nothing if the bytes are not such a value.
std::string encode(const Request &request);
std::string encode(const Answer &answer);
std::optional<Request> decodeRequest(llvm::StringRef bytes);
std::optional<Answer> decodeAnswer(llvm::StringRef bytes);

/// Understands the options; an Answer if they are wrong.
std::optional<Answer> prepareRequest(const Request &request, CommandLine &line);
Answer answerRequest(CommandLine line);

/// `tilec worker`: a request on standard input, its answer on standard output. Returns the process's exit code.
int workerCommand();

} // namespace tile
