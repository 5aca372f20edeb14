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
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

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
      unsigned number = 0; // "ptxas FILE, line 12; error : MESSAGE"
      prefix.rsplit(", line ").second.consumeInteger(10, number);
      report.errors.push_back({number, message.str()});
    } else if (prefix.contains("warning") || message.starts_with("(C")) {
      report.warnings.push_back(message.str());
    }
  }
  return report;
}

std::string findSource(StringRef ptx, unsigned line) {
  // .loc FILE LINE COLUMN holds until the next; .file FILE "PATH" comes at the end.
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
  return row == 0 || path.empty() ? "" : llvm::formatv("{0}:{1}:{2}", path, row, column).str();
}

/// All errors, each with its place in the kernel's source.
static std::string describeErrors(const PtxasReport &report, StringRef ptx) {
  std::string text;
  for (const PtxasError &error : report.errors) {
    std::string source = error.line == 0 ? "" : findSource(ptx, error.line);
    text += (text.empty() ? "" : "\n  ") + (source.empty() ? "" : source + ": ") + error.message;
  }
  return text;
}

// ptxas takes minutes for no kernel that anybody would want to run.
constexpr int maxSeconds = 600;

/// This process' environment, and that of glibc, unless it is set: memory that grows by 64 MiB and in huge pages.
/// ptxas then takes 700 page faults, not 6000: 142 ms instead of 159 for the product of 8192, 14 instead of 17 for
/// vector_add. (glibc manual, "Memory Allocation Tunables".)
static std::vector<std::string> makeEnvironment() {
  std::vector<std::string> variables;
  for (char **variable = environ; *variable; ++variable)
    variables.push_back(*variable);
  if (llvm::none_of(variables, [](StringRef variable) { return variable.starts_with("GLIBC_TUNABLES="); }))
    variables.push_back("GLIBC_TUNABLES=glibc.malloc.hugetlb=1:glibc.malloc.top_pad=67108864:"
                        "glibc.malloc.mmap_threshold=1073741824:glibc.malloc.trim_threshold=1073741824");
  return variables;
}

/// The texts as execve takes them.
static std::vector<char *> pointersTo(llvm::ArrayRef<std::string> texts) {
  std::vector<char *> pointers;
  for (const std::string &text : texts)
    pointers.push_back(const_cast<char *>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Runs a program with its output in a file. It ends with this process, however that ends, and after maxSeconds.
static llvm::Expected<int> execute(llvm::ArrayRef<std::string> command, const std::string &outputPath) {
  std::vector<std::string> variables = makeEnvironment();
  std::vector<char *> arguments = pointersTo(command), environment = pointersTo(variables);
  pid_t self = getpid(), child = fork();
  if (child < 0)
    return llvm::createStringError(llvm::formatv("cannot start '{0}': {1}", command[0], std::strerror(errno)));
  if (child == 0) { // only calls that are safe between fork and exec
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    int input = open("/dev/null", O_RDONLY), output = open(outputPath.c_str(), O_WRONLY | O_TRUNC);
    if (getppid() != self || dup2(input, STDIN_FILENO) < 0 || dup2(output, STDOUT_FILENO) < 0 ||
        dup2(output, STDERR_FILENO) < 0)
      _exit(127);
    execve(arguments[0], arguments.data(), environment.data());
    _exit(127);
  }
  // Waits for the end of the child on its descriptor, which poll can give up on.
  pollfd ended{static_cast<int>(syscall(SYS_pidfd_open, child, 0)), POLLIN, 0};
  int ready = 0;
  while (ended.fd >= 0 && (ready = poll(&ended, 1, maxSeconds * 1000)) < 0 && errno == EINTR)
    continue;
  bool isLate = ended.fd >= 0 && ready == 0;
  if (isLate)
    kill(child, SIGKILL);
  if (ended.fd >= 0)
    close(ended.fd);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR)
    continue;
  if (isLate)
    return llvm::createStringError(
        llvm::formatv("'{0}' did not finish in {1} seconds; use smaller blocks or more warps", command[0], maxSeconds));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// ptxas takes a tenth less time with -O1, for code that is as fast where all products are wgmma of 16-bit types with
/// more than 128 columns: 1.000 to 1.014 of its speed for 1536 and more. With fewer columns it is 0.6 to 1.4 % slower,
/// in attention up to 5 % (bench/results/h200/passes.md).
static std::string optimizationLevel(StringRef ptx) {
  constexpr StringRef product = "wgmma.mma_async.sync.aligned.m64n";
  constexpr unsigned fewColumns = 128;
  size_t place = ptx.find(product);
  if (place == StringRef::npos)
    return "-O3";
  for (; place != StringRef::npos; place = ptx.find(product, place + 1)) {
    StringRef shape = ptx.substr(place + product.size());
    unsigned columns = 0;
    shape.consumeInteger(10, columns);
    if (columns <= fewColumns || !shape.starts_with("k16."))
      return "-O3";
  }
  return "-O1";
}

static llvm::Expected<Assembled> assemble(StringRef ptxas, StringRef ptx, const target::GpuTarget &target) {
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

  llvm::Expected<int> ended =
      execute({ptxas.str(), "-v", optimizationLevel(ptx), "--gpu-name", std::string(StringRef(target.name)),
               StringRef((*input)->path).str(), "-o", StringRef((*output)->path).str()},
              StringRef((*messages)->path).str());
  if (!ended)
    return ended.takeError();
  int code = *ended;
  llvm::Expected<std::string> text = (*messages)->read();
  if (!text)
    return text.takeError();
  PtxasReport report = parsePtxasOutput(*text);
  if (code != 0) {
    std::string reason = report.errors.empty() ? *text : describeErrors(report, ptx);
    if (StringRef(reason).trim().empty())
      reason = code > 128 ? strsignal(code - 128) : "it has printed nothing";
    return llvm::createStringError(llvm::formatv("'{0}' failed for {1} with exit code {2}: {3}", ptxas,
                                                 StringRef(target.name), code, StringRef(reason).trim()));
  }
  llvm::Expected<std::string> cubin = (*output)->read();
  if (!cubin)
    return cubin.takeError();
  return Assembled{std::move(*cubin), std::move(report)};
}

/// Bytes that the threads of all kernels spill.
static unsigned spilledBytes(const PtxasReport &report) {
  unsigned bytes = 0;
  for (const KernelResources &kernel : report.kernels)
    bytes += kernel.spillStores + kernel.spillLoads;
  return bytes;
}

/// Whether a kernel spills though a thread may have more registers.
static bool hasSpareRegisters(const PtxasReport &report) {
  constexpr unsigned mostRegisters = 255; // of a thread
  return llvm::any_of(report.kernels, [](const KernelResources &kernel) {
    return kernel.spillStores + kernel.spillLoads > 0 && kernel.registers < mostRegisters;
  });
}

/// ".minnctapersm 1" behind each ".reqntid" (PTX ISA, "Performance-Tuning Directives").
static std::string forOneCta(StringRef ptx) {
  std::string text;
  for (StringRef line : llvm::split(ptx, '\n')) {
    text += (line + "\n").str();
    if (line.starts_with(".reqntid"))
      text += ".minnctapersm 1\n";
  }
  return text;
}

llvm::Expected<Assembled> runPtxas(StringRef ptxas, StringRef ptx, const target::GpuTarget &target) {
  llvm::Expected<Assembled> assembled = assemble(ptxas, ptx, target);
  bool saysCtas = ptx.contains(".minnctapersm"); // with warp roles, say: setmaxnreg gives out the registers
  if (!assembled || saysCtas || !hasSpareRegisters(assembled->report))
    return assembled;
  // Without a word on CTAs, ptxas may give a kernel that spills anyway as few registers as most CTAs can have: a
  // product for sm_80 32 registers and 5.5 KB of spills, where 255 leave 0.8 KB.
  llvm::Expected<Assembled> alone = assemble(ptxas, forOneCta(ptx), target);
  if (!alone || spilledBytes(alone->report) >= spilledBytes(assembled->report)) {
    llvm::consumeError(alone.takeError());
    return assembled;
  }
  return alone;
}

} // namespace tile::codegen
