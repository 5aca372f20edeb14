// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Explain/PassRecord.h"

#include "Cta/CtaDialect.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tile::explain {
namespace {

/// Finds the first position in the given file, such as `"file":12:3`, in the text of a location and returns its line.
unsigned findLine(StringRef text, StringRef file) {
  for (size_t at = text.find('"'); at != StringRef::npos; at = text.find('"', at)) {
    size_t end = text.find('"', at + 1);
    if (end == StringRef::npos)
      return 0;
    StringRef name = text.slice(at + 1, end), remaining = text.drop_front(end + 1);
    unsigned line = 0;
    if (name == file && remaining.consume_front(":") && !remaining.consumeInteger(10, line))
      return line;
    at = end + 1;
  }
  return 0;
}

/// Table of the definitions `#loc12 = loc(...)`, which may refer to each other in any order.
class LocationTable {
public:
  LocationTable(ArrayRef<StringRef> lines, StringRef file) : file(file) {
    for (StringRef line : lines)
      if (line.starts_with("#loc") && line.contains(" = loc("))
        texts[line.split(' ').first] = line;
  }

  /// Returns the line of a location given as text, which is a position or a reference.
  unsigned lineOf(StringRef text, unsigned depth = 0) {
    if (unsigned line = findLine(text, file))
      return line;
    for (size_t at = text.find("#loc"); at != StringRef::npos && depth < 8; at = text.find("#loc", at + 4)) {
      StringRef name = text.drop_front(at).take_while([](char c) { return c == '#' || llvm::isAlnum(c); });
      // Insert the entry before the recursion, which may move the entries of the map.
      bool isNew = lines.try_emplace(name, 0).second;
      if (auto entry = texts.find(name); isNew && entry != texts.end()) {
        unsigned line = lineOf(entry->second.split('=').second, depth + 1);
        lines[name] = line;
      }
      if (unsigned line = lines.lookup(name))
        return line;
    }
    return 0;
  }

private:
  StringRef file;
  llvm::StringMap<StringRef> texts;
  llvm::StringMap<unsigned> lines;
};

/// Returns the end of the location that begins at `at` with "loc(".
size_t endOfLocation(StringRef line, size_t at) {
  int depth = 0;
  for (size_t i = at; i < line.size(); ++i)
    if (depth += (line[i] == '(') - (line[i] == ')'); line[i] == ')' && depth == 0)
      return i + 1;
  return line.size();
}

std::string typeText(ArrayRef<int64_t> shape, Type element) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (int64_t extent : shape)
    stream << extent << 'x';
  stream << element;
  return text;
}

unsigned bitsOf(Type element) {
  return element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64; // otherwise a pointer
}

} // namespace

MarkedText readLocations(StringRef text, StringRef file) {
  SmallVector<StringRef> lines;
  text.rtrim('\n').split(lines, '\n');
  LocationTable table(lines, file);
  MarkedText marked;
  for (StringRef line : lines) {
    if (line.starts_with("#loc") && line.contains(" = loc("))
      continue;
    std::string plain;
    unsigned source = 0;
    for (size_t at = line.find(" loc("); at != StringRef::npos; at = line.find(" loc(")) {
      size_t end = endOfLocation(line, at + 4);
      source = table.lineOf(line.slice(at, end)); // the last location on a line is that of the operation
      plain += line.take_front(at);
      line = line.drop_front(end);
    }
    plain += line;
    if (StringRef(plain).trim() == "}") // end of a region: no source line
      source = 0;
    marked.lines.push_back(std::move(plain));
    marked.source.push_back(source);
  }
  return marked;
}

void PassRecord::after(StringRef pass, ModuleOp module) {
  // If the compiler restarts with passes that use less shared memory, it passes the input again.
  if (pass == "input")
    known = {};
  std::string text;
  llvm::raw_string_ostream stream(text);
  module->print(stream, OpPrintingFlags().useLocalScope(false).enableDebugInfo(true, false));
  Form form;
  form.pass = pass.str();
  form.text = readLocations(text, file);
  form.remarks = std::exchange(waiting, {});
  if (!known.forms.empty() && known.forms.back().text.lines == form.text.lines && form.remarks.empty())
    return;
  form.isKernel = !module.getOps<KernelOp>().empty();
  form.hasLayouts = form.isKernel && readLayouts(module);
  if (form.hasLayouts)
    readShared(module);
  known.forms.push_back(std::move(form));
}

unsigned PassRecord::lineOf(Location location) const {
  unsigned line = 0;
  location->walk([&](Location nested) {
    if (auto place = dyn_cast<FileLineColLoc>(nested); place && place.getFilename() == file)
      line = place.getLine();
    return line ? WalkResult::interrupt() : WalkResult::advance();
  });
  return line;
}

void PassRecord::remark(StringRef, Diagnostic &remark) {
  waiting.push_back({remark.str(), lineOf(remark.getLocation())});
}

bool PassRecord::readLayouts(ModuleOp module) {
  llvm::MapVector<std::pair<Attribute, unsigned>, RecordedLayout> found;
  module->walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      auto buffer = dyn_cast<cta::BufferType>(type);
      auto tensor = dyn_cast<RankedTensorType>(type);
      cta::LayoutAttr attribute = buffer ? buffer.getLayout() : tensor ? cta::getLayoutAttr(tensor) : cta::LayoutAttr();
      if (!attribute)
        continue;
      Type element = buffer ? buffer.getElementType() : tensor.getElementType();
      RecordedLayout &recorded = found[{attribute, bitsOf(element)}];
      recorded.layout = attribute.getLayout();
      recorded.isShared = bool(buffer);
      recorded.elementBits = bitsOf(element);
      std::string name = typeText(buffer ? buffer.getShape() : tensor.getShape(), element);
      if (!llvm::is_contained(recorded.types, name))
        recorded.types.push_back(std::move(name));
      if (unsigned line = lineOf(op->getLoc()))
        recorded.lines.insert(line);
    }
  });
  if (found.empty())
    return false;
  known.layouts.clear();
  for (auto &[key, recorded] : found)
    known.layouts.push_back(std::move(recorded));
  return true;
}

void PassRecord::readShared(ModuleOp module) {
  std::vector<SharedPiece> found;
  module->walk([&](Operation *op) {
    if (auto alloc = dyn_cast<cta::AllocOp>(op); alloc && alloc.getOffset()) {
      cta::BufferType type = alloc.getType();
      found.push_back({*alloc.getOffset(), type.getBytes(), type.getSlots(),
                       typeText(type.getShape(), type.getElementType()), lineOf(op->getLoc())});
    } else if (auto barrier = dyn_cast<cta::MbarrierAllocOp>(op); barrier && barrier.getOffset()) {
      auto type = cast<cta::MbarrierType>(barrier.getType());
      found.push_back({*barrier.getOffset(), type.getBytes(), type.getSlots(), "barrier", lineOf(op->getLoc())});
    }
  });
  llvm::stable_sort(found, [](const SharedPiece &a, const SharedPiece &b) { return a.offset < b.offset; });
  if (!found.empty())
    known.shared = std::move(found);
}

} // namespace tile::explain
