// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Runs ptxas on in-memory files and parses its report line by line:
//
//   ptxas info    : Compiling entry function 'matmul' for 'sm_90a'
//   ptxas info    : Function properties for matmul
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 154 registers, used 1 barriers, 1024 bytes smem
#include "Codegen/RunPtxas.h"

#include "Codegen/ChooseRegisters.h"
#include "Codegen/HeldOperands.h"
#include "Codegen/MemoryFile.h"
#include "Codegen/Subprocess.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

#include <csignal>
#include <cstring>
#include <unistd.h>

using llvm::formatv;
using llvm::StringRef;

namespace tile::codegen {
namespace {

/// Returns the integer before `label` in a list like "Used 40 registers, 16 bytes smem"; 0 if `label` is absent.
unsigned numberBefore(StringRef line, StringRef label) {
  size_t end = line.find(label);
  if (end == StringRef::npos)
    return 0;
  StringRef digits = line.take_front(end).rtrim();
  digits = digits.drop_front(digits.find_last_not_of("0123456789") + 1);
  unsigned value = 0;
  return digits.getAsInteger(10, value) ? 0 : value;
}

} // namespace

const KernelResources *PtxasReport::find(StringRef entry) const {
  for (const KernelResources &kernel : kernels)
    if (kernel.entry == entry)
      return &kernel;
  return nullptr;
}

PtxasReport parsePtxasOutput(StringRef text) {
  constexpr size_t maxWarnings = 100;
  PtxasReport report;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n', -1, /*KeepEmpty=*/false);
  for (StringRef line : lines) {
    line = line.trim();
    auto [prefix, message] = line.split(':');
    message = message.trim();
    if (line.contains("Compiling entry function")) {
      report.kernels.emplace_back();
      report.kernels.back().entry = line.split('\'').second.split('\'').first.str();
    } else if (line.contains("bytes stack frame") && !report.kernels.empty()) {
      KernelResources &kernel = report.kernels.back();
      kernel.stackFrame = numberBefore(line, "bytes stack frame");
      kernel.spillStores = numberBefore(line, "bytes spill stores");
      kernel.spillLoads = numberBefore(line, "bytes spill loads");
    } else if (line.contains("Used ") && !report.kernels.empty()) {
      report.kernels.back().registers = numberBefore(line, "registers");
      report.kernels.back().staticShared = numberBefore(line, "bytes smem");
    } else if (prefix.contains("fatal") || prefix.contains("error")) {
      unsigned number = 0; // "ptxas FILE, line 12; error : MESSAGE"
      prefix.rsplit(", line ").second.consumeInteger(10, number);
      report.errors.push_back({number, message.str()});
    } else if (prefix.contains("warning") || message.starts_with("(C")) {
      if (report.warnings.size() < maxWarnings)
        report.warnings.push_back(message.str());
    }
  }
  return report;
}

std::string findSource(StringRef ptx, unsigned line) {
  // .loc FILE LINE COLUMN applies until the next .loc; .file FILE "PATH" comes at the end of the PTX.
  unsigned file = 0, row = 0, column = 0, current = 0;
  StringRef path;
  for (StringRef text : llvm::split(ptx, '\n')) {
    bool isBefore = ++current <= line;
    text = text.ltrim();
    if (isBefore && text.consume_front(".loc")) {
      (text = text.ltrim()).consumeInteger(10, file);
      (text = text.ltrim()).consumeInteger(10, row);
      (text = text.ltrim()).consumeInteger(10, column);
    } else if (text.consume_front(".file")) {
      unsigned number = 0;
      (text = text.ltrim()).consumeInteger(10, number);
      if (number == file)
        path = text.split('"').second.split('"').first;
    }
  }
  return row == 0 || path.empty() ? "" : formatv("{0}:{1}:{2}", path, row, column).str();
}

// Limits the number of errors in a message.
constexpr size_t maxErrors = 20;

/// Describes the errors, each with its location in the kernel's source.
static std::string describeErrors(const PtxasReport &report, StringRef ptx) {
  std::string text;
  for (const PtxasError &error : llvm::ArrayRef(report.errors).take_front(maxErrors)) {
    std::string source = error.line == 0 ? "" : findSource(ptx, error.line);
    text += (text.empty() ? "" : "\n  ") + (source.empty() ? "" : source + ": ") + error.message;
  }
  if (report.errors.size() > maxErrors)
    text += formatv("\n  and {0} more", report.errors.size() - maxErrors);
  return text;
}

/// Returns the last lines of output that could not be parsed.
static StringRef lastLines(StringRef text) {
  size_t begin = text.size();
  for (size_t line = 0; line < maxErrors && begin != StringRef::npos; ++line)
    begin = text.rfind('\n', begin);
  return begin == StringRef::npos ? text : text.drop_front(begin);
}

// No useful kernel keeps ptxas busy for longer.
constexpr int maxSeconds = 600;

/// Returns the environment of this process, plus glibc tunables unless the environment sets them: with these, the heap
/// grows in steps of 64 MiB and uses huge pages. ptxas then takes 700 page faults instead of 6000: 142 ms instead of
/// 159 ms for a GEMM of size 8192, and 14 ms instead of 17 ms for vector_add (glibc manual, "Memory Allocation
/// Tunables").
static std::vector<std::string> makeEnvironment() {
  std::vector<std::string> variables;
  for (char **variable = environ; *variable; ++variable)
    variables.push_back(*variable);
  if (llvm::none_of(variables, [](StringRef variable) { return variable.starts_with("GLIBC_TUNABLES="); }))
    variables.push_back("GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864:"
                        "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824");
  return variables;
}

/// Returns an error that explains why ptxas failed.
static llvm::Error explainFailure(StringRef ptxas, StringRef ptx, const Ended &ended, const target::GpuTarget &target) {
  PtxasReport report = parsePtxasOutput(ended.output);
  // A lack of memory on this machine is not an error in the code.
  if (ended.code == 128 + SIGKILL)
    return llvm::make_error<EnvironmentError>(formatv("'{0}' was killed; is there enough memory?", ptxas).str());
  std::string reason =
      report.errors.empty() ? lastLines(StringRef(ended.output).rtrim()).str() : describeErrors(report, ptx);
  if (StringRef(reason).trim().empty())
    reason = ended.code > 128 ? strsignal(ended.code - 128) : "it printed nothing";
  return llvm::createStringError(formatv("'{0}' failed for {1} with exit code {2}: {3}", ptxas, StringRef(target.name),
                                         ended.code, StringRef(reason).trim()));
}

/// Returns true if an ELF file is truncated before the end of its section headers. This must be checked because ptxas
/// does not detect incomplete writes.
static bool isCutOff(StringRef elf) {
  constexpr size_t headerBytes = 64, offsetPlace = 0x28, sizePlace = 0x3a,
                   countPlace = 0x3c; // ELF-64 object file format
  if (!elf.starts_with("\x7f"
                       "ELF"))
    return false; // the caller reports the error
  if (elf.size() < headerBytes)
    return true;
  auto read = [&](size_t place) { return llvm::support::endian::read16le(elf.data() + place); };
  uint64_t offset = llvm::support::endian::read64le(elf.data() + offsetPlace);
  return offset > elf.size() || uint64_t(read(sizePlace)) * read(countPlace) > elf.size() - offset;
}

static llvm::Expected<Assembled> assemble(StringRef ptxas, StringRef ptx, const target::GpuTarget &target,
                                          const PtxasRun &run) {
  auto input = MemoryFile::create(ptx);
  if (!input)
    return input.takeError();
  auto output = MemoryFile::create();
  if (!output)
    return output.takeError();

  llvm::SmallString<128> program(ptxas);
  if (std::error_code code = llvm::sys::fs::make_absolute(program))
    return llvm::make_error<EnvironmentError>(formatv("cannot find '{0}': {1}", program, code.message()).str());
  std::vector<std::string> command = {program.str().str(),
                                      "-v",
                                      "-O" + std::to_string(run.level),
                                      "--gpu-name",
                                      std::string(StringRef(target.name)),
                                      (*input)->path(),
                                      "-o",
                                      (*output)->path()};
  if (run.lineTables)
    command.push_back("--generate-line-info");
  llvm::Expected<Ended> ended =
      runProgram(command, makeEnvironment(), maxSeconds, {(*input)->descriptor, (*output)->descriptor}, run.cancelled);
  if (!ended)
    return ended.takeError();
  if (ended->code != 0)
    return explainFailure(ptxas, ptx, *ended, target);
  llvm::Expected<std::string> cubin = (*output)->read();
  if (!cubin)
    return cubin.takeError();
  if (isCutOff(*cubin))
    return llvm::make_error<EnvironmentError>(
        formatv("'{0}' wrote a truncated cubin of {1} bytes; is the size of files limited?", ptxas, cubin->size())
            .str());
  return Assembled{std::move(*cubin), parsePtxasOutput(ended->output)};
}

llvm::Expected<Assembled> runPtxas(StringRef ptxas, StringRef ptx, const target::GpuTarget &target,
                                   const PtxasRun &run) {
  bool mayLoseOperands = !guardHeldOperands(ptx).empty();
  auto assembleRight = [&](StringRef text) {
    llvm::Expected<Assembled> made = assemble(ptxas, text, target, run);
    bool isRight = !made || !mayLoseOperands || keepsHeldOperands(made->cubin);
    return isRight ? std::move(made) : assemble(ptxas, guardHeldOperands(text), target, run);
  };
  return chooseRegisters(ptx, target, run.dynamicShared, assembleRight, run.residentCtas);
}

} // namespace tile::codegen
