// The compiler at work, for the page: the IR after each pass that changed it, with the source line of each of its
// lines, what passes remarked, and the layouts and shared memory of the last form that had any.
//
//   %43 = cta.wgmma %21, %42, … loc(#loc17)      #loc17 = loc("attention.tile":50:17)
//   ⇒ the text without locations, and 50
#pragma once

#include "Driver/Instrumentation.h"
#include "Layout/LinearLayout.h"

#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tile::explain {

/// Lines of text with the source lines that they are of; 0: none.
struct MarkedText {
  std::vector<std::string> lines;
  std::vector<unsigned> source;
};

/// `text` as MLIR prints it with locations. Lines count that are of `file`.
MarkedText readLocations(llvm::StringRef text, llvm::StringRef file);

/// A layout with all values that have it.
struct RecordedLayout {
  layout::LinearLayout layout;
  bool isShared = false;
  unsigned elementBits = 0;
  std::vector<std::string> types; ///< "128x64xf16"
  std::set<unsigned> lines;       ///< of the source
};

/// What lies where in the CTA's shared memory.
struct SharedPiece {
  int64_t offset = 0, bytes = 0, slots = 1;
  std::string type; ///< "128x64xf16", "barrier"
  unsigned line = 0;
};

class PassRecord final : public driver::PassWatcher {
public:
  explicit PassRecord(std::string file) : file(std::move(file)) {}

  void after(llvm::StringRef pass, mlir::ModuleOp module) override;
  void remark(llvm::StringRef pass, mlir::Diagnostic &remark) override;

  struct Remark {
    std::string text;
    unsigned line = 0;
  };
  struct Form {
    std::string pass;
    MarkedText text;
    std::vector<Remark> remarks;
    bool hasLayouts = false; ///< values have layouts: it says how a CTA computes
    bool isKernel = false;   ///< else it is lowered to LLVM
  };
  const std::vector<Form> &forms() const { return all; }
  /// The last form that the predicate takes; null if none does.
  const Form *last(bool hasLayouts) const;
  const std::vector<RecordedLayout> &layouts() const { return lastLayouts; }
  const std::vector<SharedPiece> &shared() const { return pieces; }

private:
  bool readLayouts(mlir::ModuleOp module);
  void readShared(mlir::ModuleOp module);
  unsigned lineOf(mlir::Location location) const;

  std::string file;
  std::vector<Form> all;
  std::vector<Remark> waiting; ///< of the pass that runs
  std::vector<RecordedLayout> lastLayouts;
  std::vector<SharedPiece> pieces;
};

} // namespace tile::explain
