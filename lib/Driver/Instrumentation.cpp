// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Pass instrumentations. MLIR's adaptors for nested pipelines, which are passes without an argument, are not shown.
#include "Driver/Instrumentation.h"

#include "Cta/CtaDialect.h"
#include "Driver/OutputFile.h"
#include "Layout/Print.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Operation.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;

namespace tile::driver {
namespace {

ModuleOp enclosingModule(Operation *op) {
  if (auto module = dyn_cast<ModuleOp>(op))
    return module;
  return op->getParentOfType<ModuleOp>();
}

class IrDumper : public PassInstrumentation {
public:
  IrDumper(std::string directory, std::string &error) : directory(std::move(directory)), error(error) {}

  void runBeforePass(Pass *pass, Operation *op) override {
    if (!pass->getArgument().empty() && previous.empty())
      dumpIfChanged("input", op);
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (!pass->getArgument().empty())
      dumpIfChanged(pass->getArgument(), op);
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override {
    if (!pass->getArgument().empty())
      dumpIfChanged((pass->getArgument() + "-failed").str(), op);
  }

private:
  void dumpIfChanged(StringRef name, Operation *op) {
    std::string text;
    llvm::raw_string_ostream stream(text);
    enclosingModule(op)->print(stream, OpPrintingFlags().useLocalScope(false));
    if (text == previous || !error.empty())
      return;
    previous = std::move(text);
    llvm::SmallString<128> path(directory);
    llvm::sys::path::append(path, llvm::formatv("{0,0+2}-{1}.mlir", count++, name).str());
    if (std::error_code code = llvm::sys::fs::create_directories(directory))
      error = llvm::formatv("cannot write '{0}': {1}", path, code.message()).str();
    else if (llvm::Error failure = writeOutput(path, previous))
      error = toString(std::move(failure));
  }

  std::string directory;
  std::string &error;
  std::string previous;
  unsigned count = 0;
};

class PassTracker : public PassInstrumentation {
public:
  explicit PassTracker(std::string &name) : name(name) {}
  void runBeforePass(Pass *pass, Operation *) override {
    if (!pass->getArgument().empty())
      name = pass->getArgument().str();
  }

private:
  std::string &name;
};

class PassTimer : public PassInstrumentation {
public:
  explicit PassTimer(Timing &timing) : timing(timing) {}
  void runBeforePass(Pass *, Operation *) override { starts.push_back(Timing::Clock::now()); }
  void runAfterPass(Pass *pass, Operation *) override {
    Timing::Clock::duration time = Timing::Clock::now() - starts.pop_back_val();
    if (!pass->getArgument().empty())
      timing.addPass(pass->getArgument(), time);
  }
  void runAfterPassFailed(Pass *pass, Operation *op) override { runAfterPass(pass, op); }

private:
  Timing &timing;
  SmallVector<Timing::Clock::time_point> starts;
};

class LayoutPrinter : public PassInstrumentation {
public:
  explicit LayoutPrinter(std::string &tables) : tables(tables) {}
  void runAfterPass(Pass *pass, Operation *op) override {
    if (pass->getArgument().empty())
      return;
    llvm::SmallSetVector<Type, 16> types;
    op->walk([&](Operation *nested) {
      for (Type type : nested->getResultTypes())
        if (isa<cta::BufferType>(type) || (isa<RankedTensorType>(type) && cta::getLayoutAttr(type)))
          types.insert(type);
    });
    if (!types.empty())
      print(types.getArrayRef());
  }

private:
  void print(ArrayRef<Type> types) {
    // Print one table for each layout, below the list of types that have this layout.
    llvm::MapVector<Attribute, SmallVector<std::string>> users;
    for (Type type : types) {
      auto buffer = dyn_cast<cta::BufferType>(type);
      auto tensor = dyn_cast<RankedTensorType>(type);
      std::string name;
      llvm::raw_string_ostream stream(name);
      for (int64_t extent : buffer ? buffer.getShape() : tensor.getShape())
        stream << extent << 'x';
      stream << (buffer ? buffer.getElementType() : tensor.getElementType());
      users[buffer ? buffer.getLayout() : cta::getLayoutAttr(type)].push_back(buffer ? "buffer " + name : name);
    }
    tables.clear();
    llvm::raw_string_ostream stream(tables);
    for (auto &[attribute, names] : users) {
      const layout::LinearLayout &layout = cast<cta::LayoutAttr>(attribute).getLayout();
      stream << llvm::join(names, ", ") << "\n  " << layout::toString(layout) << '\n'
             << layout::printTable(layout) << '\n';
    }
  }

  std::string &tables;
};

class PassWatch : public PassInstrumentation {
public:
  explicit PassWatch(PassWatcher &watcher) : watcher(watcher) {}
  void runBeforePass(Pass *pass, Operation *op) override {
    if (!pass->getArgument().empty() && !std::exchange(hasBegun, true))
      watcher.after("input", enclosingModule(op));
  }
  void runAfterPass(Pass *pass, Operation *op) override {
    if (!pass->getArgument().empty())
      watcher.after(pass->getArgument(), enclosingModule(op));
  }

private:
  PassWatcher &watcher;
  bool hasBegun = false;
};

class LastFormReader : public PassInstrumentation {
public:
  explicit LastFormReader(std::function<void(KernelOp)> read) : read(std::move(read)) {}
  void runBeforePass(Pass *pass, Operation *op) override {
    if (pass->getArgument() == "convert-cta-to-nvvm")
      enclosingModule(op).walk([&](KernelOp kernel) { read(kernel); });
  }

private:
  std::function<void(KernelOp)> read;
};

} // namespace

std::unique_ptr<PassInstrumentation> createLastFormReader(std::function<void(KernelOp)> read) {
  return std::make_unique<LastFormReader>(std::move(read));
}
std::unique_ptr<PassInstrumentation> createPassWatch(PassWatcher &watcher) {
  return std::make_unique<PassWatch>(watcher);
}
std::unique_ptr<PassInstrumentation> createIrDumper(std::string directory, std::string &error) {
  return std::make_unique<IrDumper>(std::move(directory), error);
}
std::unique_ptr<PassInstrumentation> createPassTracker(std::string &name) {
  return std::make_unique<PassTracker>(name);
}
std::unique_ptr<PassInstrumentation> createPassTimer(Timing &timing) {
  return std::make_unique<PassTimer>(timing);
}
std::unique_ptr<PassInstrumentation> createLayoutPrinter(std::string &tables) {
  return std::make_unique<LayoutPrinter>(tables);
}

} // namespace tile::driver
