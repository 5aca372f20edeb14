// Runs ptxas on temporary files and reads its report line by line:
//
//   ptxas info    : Compiling entry function 'matmul' for 'sm_90a'
//   ptxas info    : Function properties for matmul
//       0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
//   ptxas info    : Used 154 registers, used 1 barriers, 1024 bytes smem
#include "Codegen/RunPtxas.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <optional>

using llvm::StringRef;

namespace tile::codegen {
namespace {

/// A temporary file that disappears with the object, and when the process is interrupted.
class TemporaryFile {
public:
  static llvm::Expected<std::unique_ptr<TemporaryFile>> create(StringRef suffix) {
    llvm::SmallString<128> path;
    if (std::error_code error = llvm::sys::fs::createTemporaryFile("tilec", suffix, path))
      return llvm::createStringError("cannot create a temporary file: " + error.message());
    return std::make_unique<TemporaryFile>(path);
  }
  explicit TemporaryFile(StringRef path) : path(path) { llvm::sys::RemoveFileOnSignal(path); }
  ~TemporaryFile() {
    llvm::sys::fs::remove(path);
    llvm::sys::DontRemoveFileOnSignal(path);
  }
  TemporaryFile(const TemporaryFile &) = delete;

  llvm::Error write(StringRef text) const {
    std::error_code error;
    llvm::raw_fd_ostream stream(path, error);
    if (!error)
      stream << text;
    stream.close();
    if (!error)
      error = stream.error();
    stream.clear_error();
    return error ? llvm::createStringError(llvm::formatv("cannot write '{0}': {1}", path, error.message()))
                 : llvm::Error::success();
  }
  llvm::Expected<std::string> read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path);
    if (!buffer)
      return llvm::createStringError(llvm::formatv("cannot read '{0}': {1}", path, buffer.getError().message()));
    return (*buffer)->getBuffer().str();
  }

  const std::string path;
};

/// The number before `label` in a list like "Used 40 registers, 16 bytes smem"; 0 when the label is not there.
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
      report.errors.push_back(message.str());
    } else if (prefix.contains("warning") || message.starts_with("(C")) {
      report.warnings.push_back(message.str());
    }
  }
  return report;
}

llvm::Expected<Assembled> runPtxas(StringRef ptxas, StringRef ptx, const target::GpuTarget &target) {
  auto input = TemporaryFile::create("ptx");
  if (!input)
    return input.takeError();
  auto output = TemporaryFile::create("cubin");
  if (!output)
    return output.takeError();
  auto messages = TemporaryFile::create("txt");
  if (!messages)
    return messages.takeError();
  if (llvm::Error error = (*input)->write(ptx))
    return error;

  StringRef messagesPath = (*messages)->path;
  std::optional<StringRef> redirects[] = {StringRef(""), messagesPath, messagesPath};
  StringRef arguments[] = {ptxas, "-v", "--gpu-name", target.name, (*input)->path, "-o", (*output)->path};
  std::string error;
  int code = llvm::sys::ExecuteAndWait(ptxas, arguments, std::nullopt, redirects, 0, 0, &error);
  llvm::Expected<std::string> text = (*messages)->read();
  if (!text)
    return text.takeError();
  PtxasReport report = parsePtxasOutput(*text);
  if (code != 0) {
    std::string reason = report.errors.empty() ? error : llvm::join(report.errors, "\n  ");
    if (reason.empty())
      reason = StringRef(*text).trim().empty() ? "it has printed nothing" : *text;
    return llvm::createStringError(llvm::formatv("'{0}' failed for {1} with exit code {2}: {3}", ptxas,
                                                 StringRef(target.name), code, StringRef(reason).trim()));
  }
  llvm::Expected<std::string> cubin = (*output)->read();
  if (!cubin)
    return cubin.takeError();
  return Assembled{std::move(*cubin), std::move(report)};
}

} // namespace tile::codegen
