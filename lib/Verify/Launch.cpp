// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Verify/Launch.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace tile::verify {
namespace {

// The largest grids of a launch: CUDA programming guide, "Technical Specifications"; persistent kernels allow more
// along y and z (lib/Runtime/Grid.cpp).
constexpr int64_t maxPrograms[3] = {2147483647, 1 << 22, 1 << 22};
constexpr int64_t maxSms = 1024;
// A buffer lies in the memory of one GPU; the largest is B300's, 288 GB (data sheet).
constexpr int64_t maxBytes = 288'000'000'000;

} // namespace

Launch::Launch(KernelOp kernel, const runtime::Manifest &manifest, Symbols &symbols, const Options &options)
    : manifest(manifest), symbols(symbols), options(options) {
  SymbolInfo multiprocessors{SymbolKind::Sms, "num_sms", {1, maxSms}};
  sms = symbols.add(multiprocessors);
  addParameters(kernel);
  for (auto [index, name] : llvm::enumerate(names)) {
    const runtime::Parameter *parameter = manifest.findParameter(name);
    if (parameter && parameter->buffer)
      addBuffer(unsigned(index), *parameter->buffer);
  }
  for (auto [index, type] : llvm::enumerate(kernel.getArgumentTypes()))
    isUndeclared |= isa<PtrType>(type) && !buffers[index];
  symbols.areQuotientsNatural = isUndeclared;
  if (isUndeclared)
    assumeSizes(kernel);
  auto lookup = [&](StringRef name) { return lookUp(name); };
  for (const std::string &text : manifest.requirements)
    if (std::optional<Formula> condition = readCondition(text, symbols, lookup))
      known.push_back(*condition);
  addGrid();
  for (const Formula &fact : known)
    narrow(fact);
  for (auto [index, name] : llvm::enumerate(names)) {
    const runtime::Parameter *parameter = manifest.findParameter(name);
    if (!parameter || !parameter->isInteger() || !parameter->defaultValue)
      continue;
    std::optional<Poly> value = readInteger(*parameter->defaultValue, symbols, lookup);
    if (value && !value->getConstant())
      usual.push_back(Formula::equal(Poly::symbol(parameters[index]), *value));
  }
}

void Launch::addParameters(KernelOp kernel) {
  const unsigned count = unsigned(kernel.getArgumentTypes().size());
  buffers.resize(count);
  for (unsigned index = 0; index < count; ++index) {
    auto name = kernel.getArgAttrOfType<StringAttr>(index, argNameAttrName);
    SymbolInfo info{SymbolKind::Parameter, name ? name.str() : "argument " + std::to_string(index)};
    info.index = index;
    if (auto type = dyn_cast<IntegerType>(kernel.getArgumentTypes()[index])) {
      const bool isUnsigned = kernel.getArgAttr(index, unsignedAttrName) != nullptr || type.getWidth() == 1;
      const unsigned bits = type.getWidth() - (isUnsigned ? 0 : 1);
      info.range = {isUnsigned ? Wide(0) : -(Wide(1) << bits), (Wide(1) << bits) - 1};
      if (type.getWidth() == 32)
        info.range.high = std::min<Wide>(info.range.high, options.largest);
    }
    names.push_back(info.text);
    const Interval range = info.range;
    parameters.push_back(symbols.add(info));
    // A symbol's range cannot hold 64-bit bounds, so they are stated as facts.
    if (kernel.getArgumentTypes()[index].isInteger(64))
      symbols.at(parameters.back()).facts = {Formula::lessEqual(range.low, Poly::symbol(parameters.back())),
                                             Formula::lessEqual(Poly::symbol(parameters.back()), range.high)};
    const runtime::Parameter *parameter = manifest.findParameter(info.text);
    if (parameter && parameter->isInteger() && parameter->divisibility > 1) {
      const Poly value = Poly::symbol(parameters.back());
      known.push_back(Formula::equal(symbols.divide(value, Poly(parameter->divisibility), /*isFloor=*/true).second, 0));
    }
  }
  // Sizes and strides that are parameters are not negative.
  for (const runtime::Parameter &parameter : manifest.parameters)
    if (parameter.buffer)
      for (const auto *texts : {&parameter.buffer->shape, &parameter.buffer->strides})
        for (const std::string &text : *texts)
          for (auto [index, name] : llvm::enumerate(names))
            if (name == text)
              symbols.at(parameters[index]).range.low = 0;
}

int64_t Launch::maxElements(unsigned argument) const {
  const runtime::Parameter *parameter = manifest.findParameter(names[argument]);
  const int64_t elementBytes = parameter ? runtime::dataTypeSize(parameter->type) : 1;
  return std::min(maxBytes / elementBytes, options.maxElements);
}

void Launch::assumeSizes(KernelOp kernel) {
  SmallVector<Value> next;
  kernel.walk([&](Operation *op) {
    if (isa<arith::MulIOp, arith::DivSIOp, arith::DivUIOp, arith::RemSIOp, arith::RemUIOp, arith::FloorDivSIOp,
            arith::CeilDivSIOp>(op))
      next.append(op->operand_begin(), op->operand_end());
    else if (auto add = dyn_cast<AddPtrOp>(op))
      next.push_back(add.getOffset());
    else if (auto loop = dyn_cast<scf::ForOp>(op))
      next.push_back(loop.getUpperBound());
  });
  DenseSet<Value> seen;
  while (!next.empty()) {
    Value value = next.pop_back_val();
    if (!seen.insert(value).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      if (argument.getOwner()->getParentOp() == kernel && isa<IntegerType>(argument.getType())) {
        Wide &low = symbols.at(parameters[argument.getArgNumber()]).range.low;
        low = std::max<Wide>(low, 0);
      }
      continue;
    }
    Operation *op = value.getDefiningOp();
    // Follow additions of constants, too, as in N + 63.
    if (isa<SplatOp, BroadcastOp, ExpandDimsOp, HintOp, arith::ExtSIOp, arith::TruncIOp, arith::AddIOp, arith::MulIOp>(
            op))
      next.append(op->operand_begin(), op->operand_end());
  }
}

void Launch::addBuffer(unsigned argument, const runtime::BufferSpec &spec) {
  BufferTerms buffer;
  buffer.name = names[argument];
  buffer.shapeTexts = spec.shape;
  buffer.isWritten = spec.role != runtime::BufferRole::Random;
  buffer.isRowMajor = spec.strides.empty();
  auto read = [&](const std::string &text) {
    return readInteger(text, symbols, [&](StringRef name) { return lookUp(name); });
  };
  for (const std::string &text : spec.shape) {
    std::optional<Poly> size = read(text);
    if (!size)
      return;
    buffer.shape.push_back(*size);
  }
  Poly rowMajor = 1;
  buffer.strides.resize(buffer.shape.size());
  for (size_t axis = buffer.shape.size(); axis-- > 0; rowMajor = rowMajor * buffer.shape[axis]) {
    std::optional<Poly> stride = spec.strides.empty() ? rowMajor : read(spec.strides[axis]);
    if (!stride)
      return;
    buffer.strides[axis] = *stride;
  }
  Formula isFilled;
  Poly last;
  for (auto [size, stride] : llvm::zip(buffer.shape, buffer.strides)) {
    known.push_back(Formula::lessEqual(0, size));
    if (!spec.strides.empty())
      known.push_back(Formula::lessEqual(0, stride));
    isFilled = isFilled && Formula::lessEqual(1, size);
    last = last + (size - Poly(1)) * stride;
  }
  const int64_t most = maxElements(argument);
  known.push_back(isFilled.implies(Formula::less(last, most)));
  buffers[argument] = std::move(buffer);
}

void Launch::addGrid() {
  for (unsigned axis = 0; axis < 3; ++axis) {
    std::optional<Poly> size;
    if (!manifest.launch.grid.empty() && axis >= manifest.launch.grid.size())
      size = Poly(1);
    else if (!manifest.launch.grid.empty())
      size = readInteger(manifest.launch.grid[axis], symbols, [&](StringRef name) { return lookUp(name); });
    if (!size) {
      SymbolInfo count{SymbolKind::Programs, "num_programs(" + std::to_string(axis) + ")", {1, maxPrograms[axis]}};
      count.index = axis;
      size = Poly::symbol(symbols.add(count));
    }
    counts.push_back(*size);
    known.push_back(Formula::lessEqual(1, *size) && Formula::lessEqual(*size, Poly(maxPrograms[axis])));
  }
}

void Launch::narrow(const Formula &fact) {
  if (fact.kind() == Formula::Kind::And)
    for (const Formula &operand : fact.operands())
      narrow(operand);
  const auto &terms = fact.poly().getTerms();
  if (fact.kind() != Formula::Kind::NonNegative || terms.size() > 2)
    return;
  Wide constant = 0;
  for (const auto &[monomial, coefficient] : terms)
    if (monomial.empty())
      constant = coefficient;
  for (const auto &[monomial, coefficient] : terms) {
    if (monomial.size() != 1 || terms.size() != (constant == 0 ? 1u : 2u))
      continue;
    Interval &range = symbols.at(monomial.front()).range;
    if (coefficient == 1)
      range.low = std::max(range.low, -constant);
    else if (coefficient == -1)
      range.high = std::min(range.high, constant);
  }
}

std::optional<Poly> Launch::lookUp(StringRef name) const {
  for (auto [index, parameter] : llvm::enumerate(parameters))
    if (names[index] == name)
      return Poly::symbol(parameter);
  if (name == "num_sms")
    return Poly::symbol(sms);
  for (const auto &[constant, value] : manifest.constants) {
    if (constant != name)
      continue;
    if (const int64_t *integer = std::get_if<int64_t>(&value))
      return Poly(*integer);
    if (const bool *boolean = std::get_if<bool>(&value))
      return Poly(*boolean);
  }
  if (name == "this_rank" || name == "num_ranks") // a launch on one GPU has one rank
    return Poly(name == "num_ranks" ? 1 : 0);
  return std::nullopt;
}

} // namespace tile::verify
