// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compiler request as data, and its answer. libtilec compiles a request in its own process or in another, `tilec
// worker`.
//
//   Request ──prepareRequest──► CommandLine ──answerRequest──► Answer
#pragma once

#include "Options.h"

#include <optional>

namespace tile {

struct Request {
  std::string name; ///< in angle brackets if it is not a file
  std::string text;
  std::vector<std::string> options; ///< as on the command line of tilec
};

struct Answer {
  driver::Outcome outcome = driver::Outcome::Internal;
  std::string artifact;
  std::string diagnostics; ///< JSON, see Driver/DiagnosticLog.h, or the last output of a compiler that crashed
  std::vector<std::string> files;
};

/// Encode values as bytes for pipes and files, and decode them. The decoding functions return nullopt if the bytes are
/// not a valid encoding.
std::string encode(const Request &request);
std::string encode(const Answer &answer);
std::optional<Request> decodeRequest(llvm::StringRef bytes);
std::optional<Answer> decodeAnswer(llvm::StringRef bytes);

/// Parses the options of a request. Returns an Answer if they are invalid; otherwise nullopt.
std::optional<Answer> prepareRequest(const Request &request, CommandLine &line);
Answer answerRequest(CommandLine line);

/// `tilec worker`: reads a request from standard input and writes its answer to standard output. Returns the exit code
/// of the process.
int workerCommand();

} // namespace tile
