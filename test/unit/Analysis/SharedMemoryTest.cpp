// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Offsets in shared memory and barriers are correct: random programs are executed along random paths after the passes.
//
// The machine here has one memory of byte tokens. A write stores the buffer's token in its bytes, so a later read shows
// whether another buffer has overwritten them. The machine also records the accesses since the last barrier, to find
// conflicts.
#include "Analysis/SharedMemory/SharedLiveness.h"
#include "Transforms/Passes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/FormatVariadic.h"

#include <gtest/gtest.h>
#include <random>

using namespace mlir;
using namespace tile;

namespace {

/// The text of a kernel of stores, loads, copies, loops and conditions on buffers of three sizes.
class RandomProgram {
public:
  explicit RandomProgram(unsigned seed) : random(seed) {}

  std::string text() {
    body = "tile.kernel @k(%n: i32, %c: i1, %p: !tile.ptr<f32>) {\n"
           "%c0 = arith.constant 0 : i32\n%c1 = arith.constant 1 : i32\n";
    for (unsigned size : sizes) {
      body += llvm::formatv("%v{0} = arith.constant dense<0.0> : {1}\n", size, tensor(size, "f32"));
      body += llvm::formatv("%q{0} = tile.splat %p : !tile.ptr<f32> -> {1}\n", size, tensor(size, "!tile.ptr<f32>"));
    }
    addBlock({}, 0);
    return body + "tile.return\n}\n";
  }

private:
  struct Buffer {
    unsigned name, size;
  };

  unsigned pick(unsigned count) { return std::uniform_int_distribution<unsigned>(0, count - 1)(random); }

  static std::string layout(unsigned size, bool shared) {
    std::string bases;
    for (unsigned bit = 1; bit < size; bit *= 2)
      bases += llvm::formatv("{0}[{1}]", bit == 1 ? "" : ", ", bit);
    std::string lanes = "[1], [2], [4], [8], [16]";
    std::string rest = bases.substr(std::min(bases.size(), lanes.size() + 2));
    return shared ? llvm::formatv("#cta.layout<[{0}], offset = [{1}]>", size, bases).str()
                  : llvm::formatv("#cta.layout<[{0}], register = [{1}], lane = [{2}], warp = [[0], [0]]>", size, rest,
                                  lanes)
                        .str();
  }
  static std::string tensor(unsigned size, StringRef element) {
    return llvm::formatv("tensor<{0}x{1}, {2}>", size, element, layout(size, false));
  }
  static std::string type(const Buffer &buffer) {
    return llvm::formatv("!cta.buffer<{0}xf32, {1}>", buffer.size, layout(buffer.size, true));
  }

  void addBlock(std::vector<Buffer> buffers, unsigned depth) {
    for (unsigned count = 2 + pick(6); count > 0; --count)
      addStatement(buffers, depth);
  }

  void addStatement(std::vector<Buffer> &buffers, unsigned depth) {
    unsigned kind = pick(depth < 3 ? 12 : 9);
    if (buffers.empty() || kind == 0) {
      buffers.push_back({next++, sizes[pick(sizes.size())]});
      body += llvm::formatv("%b{0} = cta.alloc : {1}\n", buffers.back().name, type(buffers.back()));
      return;
    }
    Buffer buffer = buffers[pick(buffers.size())];
    if (kind < 4)
      body += llvm::formatv("cta.local_store %v{0}, %b{1} : {2}, {3}\n", buffer.size, buffer.name,
                            tensor(buffer.size, "f32"), type(buffer));
    else if (kind < 7)
      body += llvm::formatv("%x{0} = cta.local_load %b{1} : {2} -> {3}\n", next++, buffer.name, type(buffer),
                            tensor(buffer.size, "f32"));
    else if (kind == 7)
      body += llvm::formatv("cta.async_copy %q{0}, %b{1} {{vector = 1 : i32} : {2}, {3}\ncta.async_commit\n",
                            buffer.size, buffer.name, tensor(buffer.size, "!tile.ptr<f32>"), type(buffer));
    else if (kind == 8)
      body += llvm::formatv("cta.async_wait {0}\n", pick(2));
    else
      addRegion(kind, buffers, depth);
  }

  void addRegion(unsigned kind, const std::vector<Buffer> &buffers, unsigned depth) {
    if (kind == 9) {
      body += llvm::formatv("scf.for %i{0} = %c0 to %n step %c1 : i32 {{\n", next++);
      addBlock(buffers, depth + 1);
      body += "}\n";
    } else if (kind == 10) {
      body += "scf.if %c {\n";
      addBlock(buffers, depth + 1);
      body += "} else {\n";
      addBlock(buffers, depth + 1);
      body += "}\n";
    } else {
      body += "scf.while : () -> () {\n";
      addBlock(buffers, depth + 1);
      body += "scf.condition(%c)\n} do {\n";
      addBlock(buffers, depth + 1);
      body += "scf.yield\n}\n";
    }
  }

  static constexpr std::array<unsigned, 3> sizes = {32, 64, 256};
  std::mt19937 random;
  std::string body;
  unsigned next = 0;
};

class Machine {
public:
  Machine(KernelOp kernel, unsigned seed) : tokens(*kernel.getSharedBytes() / granule), random(seed) {
    runBlock(kernel.getBody().front());
  }

  std::string problem; ///< Empty if nothing went wrong.

private:
  static constexpr int64_t granule = 128; // granularity of all offsets

  struct Bytes {
    int64_t first, last;
    bool overlaps(const Bytes &other) const { return first < other.last && other.first < last; }
  };
  struct Instance {
    int token = 0; ///< Changes with every execution of the alloc, which invalidates the contents.
    bool written = false, copying = false;
  };
  struct Access {
    Bytes bytes;
    bool isWrite;
  };

  static Bytes bytesOf(cta::AllocOp alloc) {
    return {*alloc.getOffset() / granule,
            *alloc.getOffset() / granule + (alloc.getType().getBytes() + granule - 1) / granule};
  }

  void complain(Operation *op, StringRef what) {
    if (problem.empty())
      llvm::raw_string_ostream(problem) << what << " at " << *op;
  }

  void access(Operation *op, Bytes bytes, bool isWrite) {
    for (const Access &earlier : sinceBarrier)
      if ((isWrite || earlier.isWrite) && earlier.bytes.overlaps(bytes))
        complain(op, "unordered access");
    sinceBarrier.push_back({bytes, isWrite});
  }

  void write(cta::AllocOp alloc) {
    Bytes bytes = bytesOf(alloc);
    std::fill(tokens.begin() + bytes.first, tokens.begin() + bytes.last, instances[alloc].token);
    instances[alloc].written = true;
  }

  void run(Operation &op) {
    if (auto alloc = dyn_cast<cta::AllocOp>(op))
      instances[alloc] = {++lastToken, false, false};
    if (isa<cta::BarrierOp>(op))
      sinceBarrier.clear();
    if (auto store = dyn_cast<cta::LocalStoreOp>(op)) {
      cta::AllocOp alloc = getAlloc(store.getBuffer());
      // A store to a buffer with copies in flight is the program's own error.
      if (!instances[alloc].copying)
        access(&op, bytesOf(alloc), true);
      write(alloc);
    }
    if (auto load = dyn_cast<cta::LocalLoadOp>(op))
      read(load, getAlloc(load.getBuffer()));
    if (auto copy = dyn_cast<cta::AsyncCopyOp>(op))
      startCopy(copy, getAlloc(copy.getBuffer()));
    if (auto wait = dyn_cast<cta::AsyncWaitOp>(op))
      finishCopies(wait);
  }

  void read(cta::LocalLoadOp load, cta::AllocOp alloc) {
    Instance &instance = instances[alloc];
    // A read while copies are in flight, or before anything was written, is the program's responsibility.
    if (instance.copying)
      return;
    access(load, bytesOf(alloc), false);
    Bytes bytes = bytesOf(alloc);
    for (int64_t place = bytes.first; instance.written && place < bytes.last; ++place)
      if (tokens[place] != instance.token)
        complain(load, "buffer was overwritten");
  }

  void startCopy(cta::AsyncCopyOp copy, cta::AllocOp alloc) {
    if (!instances[alloc].copying)
      for (const Access &earlier : sinceBarrier)
        if (earlier.bytes.overlaps(bytesOf(alloc)))
          complain(copy, "copy starts before an access is over");
    instances[alloc].copying = true;
    running.push_back({alloc, instances[alloc].token});
    write(alloc);
  }

  /// Running copies may write up to this point; a wait with pending groups may leave any of them running.
  void finishCopies(cta::AsyncWaitOp wait) {
    size_t kept = std::min<size_t>(wait.getPending(), running.size());
    for (size_t index = 0; index < running.size(); ++index) {
      auto [alloc, token] = running[index];
      Bytes bytes = bytesOf(alloc);
      for (int64_t place = bytes.first; place < bytes.last; ++place)
        if (tokens[place] != token && instances[alloc].token == token)
          complain(wait, "a running copy's bytes were reused");
      if (index + kept >= running.size())
        continue;
      sinceBarrier.push_back({bytes, true});
      bool more = false;
      for (size_t later = index + 1; later < running.size(); ++later)
        more |= running[later].first == alloc;
      if (!more)
        instances[alloc].copying = false;
    }
    running.erase(running.begin(), running.end() - kept);
  }

  unsigned pick(unsigned count) { return std::uniform_int_distribution<unsigned>(0, count - 1)(random); }

  void runBlock(Block &block) {
    for (Operation &op : block) {
      run(op);
      if (auto loop = dyn_cast<scf::ForOp>(op))
        for (unsigned trips = pick(3); trips > 0; --trips)
          runBlock(*loop.getBody());
      if (auto branch = dyn_cast<scf::IfOp>(op))
        runBlock(pick(2) ? *branch.thenBlock() : *branch.elseBlock());
      if (auto loop = dyn_cast<scf::WhileOp>(op)) {
        runBlock(*loop.getBeforeBody());
        for (unsigned trips = pick(3); trips > 0; --trips) {
          runBlock(*loop.getAfterBody());
          runBlock(*loop.getBeforeBody());
        }
      }
    }
  }

  std::vector<int> tokens;
  std::mt19937 random;
  int lastToken = 0;
  llvm::DenseMap<Operation *, Instance> instances;
  std::vector<std::pair<cta::AllocOp, int>> running;
  std::vector<Access> sinceBarrier;
};

TEST(SharedMemory, RandomPrograms) {
  MLIRContext context;
  context.loadDialect<TileDialect, cta::CtaDialect, arith::ArithDialect, scf::SCFDialect>();
  unsigned reused = 0;
  for (unsigned seed = 0; seed < 120; ++seed) {
    std::string text = RandomProgram(seed).text();
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    ASSERT_TRUE(module) << text;
    PassManager passes(&context);
    passes.addNestedPass<KernelOp>(createCtaAllocateShared());
    passes.addNestedPass<KernelOp>(createCtaInsertBarriers());
    ASSERT_TRUE(succeeded(passes.run(*module))) << text;
    KernelOp kernel = *module->getOps<KernelOp>().begin();
    int64_t bytes = 0;
    kernel.walk([&](cta::AllocOp alloc) { bytes += alloc.getType().getBytes(); });
    reused += bytes > int64_t(*kernel.getSharedBytes());
    for (unsigned path = 0; path < 20; ++path) {
      Machine machine(kernel, path);
      if (machine.problem.empty())
        continue;
      std::string ir;
      llvm::raw_string_ostream(ir) << kernel;
      FAIL() << machine.problem << ", seed " << seed << ", path " << path << "\n" << ir;
    }
  }
  EXPECT_GT(reused, 15u);
}

} // namespace
