// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvdisasm prints a source location before the instructions to which it applies. For an inlined function, the comment
// contains the location in the function and that of the call:
//
//   .text.matmul:
//   \t//## File "/kernels/matmul.tile", line 58
//           /*0010*/                   S2R R0, SR_TID.X ;
//   .L_x_1:
#include "Codegen/RunNvdisasm.h"

#include "Codegen/MemoryFile.h"
#include "Codegen/Subprocess.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"

using llvm::formatv;
using llvm::StringRef;

namespace tile::codegen {

std::vector<SassLine> parseSass(StringRef text) {
  std::vector<SassLine> lines;
  std::string file;
  unsigned number = 0;
  bool isCode = false;
  for (StringRef line : llvm::split(text, '\n')) {
    StringRef remaining = line.trim();
    if (remaining.starts_with(".text.")) {
      isCode = true;
      file.clear();
      number = 0;
    } else if (remaining.starts_with(".section") || remaining.starts_with("//---")) {
      isCode = false;
    } else if (remaining.consume_front("//## File \"")) {
      StringRef place;
      std::tie(remaining, place) = remaining.split('"');
      unsigned at = 0;
      if (place.consume_front(", line ") && !place.consumeInteger(10, at)) {
        file = remaining.str();
        number = at;
      }
    } else if (isCode && (remaining.starts_with("/*") || remaining.starts_with(".L"))) {
      lines.push_back({remaining.str(), file, number});
    }
  }
  return lines;
}

llvm::Expected<std::vector<SassLine>> runNvdisasm(StringRef nvdisasm, StringRef cubin) {
  constexpr int maxSeconds = 60;
  auto input = MemoryFile::create(cubin);
  if (!input)
    return input.takeError();
  llvm::SmallString<128> program(nvdisasm);
  if (std::error_code code = llvm::sys::fs::make_absolute(program))
    return llvm::make_error<EnvironmentError>(formatv("cannot find '{0}': {1}", program, code.message()).str());
  llvm::Expected<Ended> ended = runProgram({program.str().str(), "-g", "-c", (*input)->path()}, /*environment=*/{},
                                           maxSeconds, (*input)->descriptor);
  if (!ended)
    return ended.takeError();
  if (ended->code != 0)
    return llvm::createStringError(formatv("'{0}' failed with exit code {1}: {2}", nvdisasm, ended->code,
                                           StringRef(ended->output).trim().take_front(200)));
  return parseSass(ended->output);
}

} // namespace tile::codegen
