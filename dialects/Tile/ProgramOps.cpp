// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The kernel operation: syntax and verification.
#include "Target/Limits.h"
#include "Tile/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionImplementation.h"

using namespace mlir;
using namespace tile;

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name, FunctionType type,
                     ArrayRef<NamedAttribute> attributes) {
  state.addAttribute(getSymNameAttrName(state.name), builder.getStringAttr(name));
  state.addAttribute(getFunctionTypeAttrName(state.name), TypeAttr::get(type));
  state.addAttributes(attributes);
  state.addRegion();
}

ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  auto buildType = [](Builder &builder, ArrayRef<Type> inputs, ArrayRef<Type> results,
                      function_interface_impl::VariadicFlag,
                      std::string &) { return builder.getFunctionType(inputs, results); };
  return function_interface_impl::parseFunctionOp(parser, result, /*allowVariadic=*/false,
                                                  getFunctionTypeAttrName(result.name), buildType,
                                                  getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));
}

void KernelOp::print(OpAsmPrinter &printer) {
  function_interface_impl::printFunctionOp(printer, *this, /*isVariadic=*/false, getFunctionTypeAttrName(),
                                           getArgAttrsAttrName(), getResAttrsAttrName());
}

std::string KernelOp::getArgName(unsigned index) {
  auto name = getArgAttrOfType<StringAttr>(index, argNameAttrName);
  return name ? name.str() : "arg" + std::to_string(index);
}

TensorMapAttr KernelOp::getTensorMap(unsigned index) {
  return getArgAttrOfType<TensorMapAttr>(index, tensorMapAttrName);
}

void KernelOp::setTensorMap(unsigned index, TensorMapAttr map) {
  setArgAttr(index, tensorMapAttrName, map);
}

ProgramsOp KernelOp::getPrograms() {
  auto all = getBody().front().getOps<ProgramsOp>();
  return all.empty() ? ProgramsOp() : *all.begin();
}

/// Clusters of up to 8 CTAs are portable (CUDA programming guide, "Thread Block Clusters").
static LogicalResult verifyCluster(KernelOp kernel) {
  constexpr int64_t maxCtas = 8;
  int64_t ctas = 1;
  if (std::optional<ArrayRef<int32_t>> shape = kernel.getCluster()) {
    if (shape->size() != 3)
      return kernel.emitOpError() << "cluster has " << shape->size() << " sizes but needs 3";
    for (int32_t extent : *shape) {
      if (extent < 1 || extent > maxCtas || !llvm::isPowerOf2_32(extent))
        return kernel.emitOpError() << "cluster is [" << *shape << "]; its sizes must be 1, 2, 4 or 8";
      ctas *= extent;
    }
  }
  if (ctas > maxCtas)
    return kernel.emitOpError() << "cluster has " << ctas << " CTAs; at most 8 are allowed";
  if (int64_t formed = int32_t(kernel.getClusterCtas()); formed != 1 && formed != ctas)
    return kernel.emitOpError() << "cluster_ctas is " << formed << " but the requested cluster has " << ctas;
  return success();
}

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError() << "has " << getFunctionType().getNumResults() << " results; a kernel returns nothing";
  if (!getBody().hasOneBlock())
    return emitOpError() << "has " << getBody().getBlocks().size()
                         << " blocks; a kernel must have one, with loops and branches of scf";
  for (auto [index, type] : llvm::enumerate(getFunctionType().getInputs()))
    if (!isa<PtrType, DescType, IntegerType, FloatType>(type))
      return emitOpError() << "argument " << index << " is " << type << "; a kernel takes scalars and pointers";
  uint32_t warps = getNumWarps();
  if (warps < 1 || warps > 32 || !llvm::isPowerOf2_32(warps))
    return emitOpError() << "num_warps is " << warps << " but must be a power of two from 1 to 32";
  uint32_t stages = getNumStages();
  if (stages < 1 || stages > target::maxStages)
    return emitOpError() << "num_stages is " << stages << " but must be from 1 to " << target::maxStages;
  if (int64_t bytes = getSharedBytes().value_or(0); bytes < 0)
    return emitOpError() << "shared_bytes is " << bytes << " but must not be negative";
  return verifyCluster(*this);
}

std::array<int32_t, 2> WorkAttr::getClusterShape() const {
  return getCluster() ? std::array{getCluster()[0], getCluster()[1]} : std::array{1, 1};
}

WorkAttr WorkAttr::withCluster(int32_t alongX, int32_t alongY) const {
  auto cluster = DenseI32ArrayAttr::get(getContext(), {alongX, alongY});
  return get(getContext(), getOrder(), getGroup(), getPersistent(), cluster, getSplitK(), getTail());
}

WorkAttr WorkAttr::withSplitK(int32_t ctas) const {
  return get(getContext(), getOrder(), getGroup(), getPersistent(), getCluster(), ctas, getTail());
}

WorkAttr WorkAttr::withTail(StreamKAttr tail) const {
  return get(getContext(), getOrder(), getGroup(), getPersistent(), getCluster(), getSplitK(), tail);
}

LogicalResult WorkAttr::verify(llvm::function_ref<InFlightDiagnostic()> emitError, WorkOrder order, int32_t group,
                               bool persistent, DenseI32ArrayAttr cluster, int32_t splitK, StreamKAttr tail) {
  if (group < 1 || (group != 1 && order != WorkOrder::swizzle2d))
    return emitError() << "group is " << group << " but must be positive, and 1 unless the order is swizzle2d";
  if (cluster && (cluster.size() != 2 || llvm::any_of(cluster.asArrayRef(), [](int32_t size) { return size < 1; })))
    return emitError() << "cluster is [" << cluster.asArrayRef() << "] but must be two positive integers";
  if (splitK < 1)
    return emitError() << "split_k is " << splitK << " but must be positive";
  if (int(bool(cluster)) + int(splitK != 1) + int(bool(tail)) > 1)
    return emitError() << "cluster, split_k and tail are mutually exclusive";
  if (!persistent && (order != WorkOrder::grid || cluster || tail))
    return emitError() << "only persistent programs have an order, a cluster or a tail";
  return success();
}

void ProgramsOp::build(OpBuilder &builder, OperationState &state, ValueRange sizes, WorkAttr work) {
  state.addOperands(sizes);
  state.getOrAddProperties<Properties>().work = work;
  Region *body = state.addRegion();
  Block &block = body->emplaceBlock();
  block.addArguments(SmallVector<Type>(numAxes, builder.getI32Type()), SmallVector<Location>(numAxes, state.location));
  block.addArgument(builder.getI1Type(), state.location);
  ensureTerminator(*body, builder, state.location);
}

/// Returns the types of the block arguments: the coordinates, and whether the program exists. If CTAs share its steps,
/// also the first step of this CTA; for a stream-K tail also the end step, the index of a piece and the number of
/// pieces.
static SmallVector<Type> getArgumentTypes(WorkAttr work) {
  Builder builder(work.getContext());
  SmallVector<Type> types(ProgramsOp::numAxes, builder.getI32Type());
  types.push_back(builder.getI1Type());
  types.append(work.getTail() ? 4 : work.getSplitK() != 1 ? 1 : 0, builder.getI32Type());
  return types;
}

ParseResult ProgramsOp::parse(OpAsmParser &parser, OperationState &result) {
  Region *body = result.addRegion();
  SmallVector<OpAsmParser::Argument> arguments;
  SmallVector<OpAsmParser::UnresolvedOperand> sizes, steps;
  Type i32 = parser.getBuilder().getI32Type();
  WorkAttr work;
  SMLoc start = parser.getCurrentLocation();
  if (parser.parseArgumentList(arguments, AsmParser::Delimiter::Paren) || parser.parseKeyword("in") ||
      parser.parseOperandList(sizes, AsmParser::Delimiter::Paren))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("steps")) &&
      (parser.parseLParen() || parser.parseOperand(steps.emplace_back()) || parser.parseRParen()))
    return failure();
  if (sizes.size() != numAxes)
    return parser.emitError(start) << "has a grid of " << sizes.size() << " sizes but needs " << numAxes;
  if (parser.parseAttribute(work) || parser.resolveOperands(sizes, i32, result.operands) ||
      parser.resolveOperands(steps, i32, result.operands) || parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  SmallVector<Type> types = getArgumentTypes(work);
  if (arguments.size() != types.size())
    return parser.emitError(start) << "has " << arguments.size() << " block arguments but needs " << types.size();
  for (auto [argument, type] : llvm::zip(arguments, types))
    argument.type = type;
  if (parser.parseRegion(*body, arguments))
    return failure();
  result.getOrAddProperties<Properties>().work = work;
  ensureTerminator(*body, parser.getBuilder(), result.location);
  return success();
}

void ProgramsOp::print(OpAsmPrinter &printer) {
  printer << " (";
  llvm::interleaveComma(getBody().getArguments(), printer);
  printer << ") in (" << getSizes() << ")";
  if (getSteps())
    printer << " steps (" << getSteps() << ")";
  printer << ' ' << getWork();
  printer.printOptionalAttrDictWithKeyword((*this)->getDiscardableAttrDictionary().getValue());
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false, /*printBlockTerminators=*/false);
}

LogicalResult ProgramsOp::verify() {
  if (bool(getSteps()) != bool(getWork().getTail()))
    return emitOpError() << (getSteps() ? "has a number of K steps but no tail to split over CTAs"
                                        : "has a tail to split over CTAs but no number of K steps");
  return success();
}

LogicalResult ProgramsOp::verifyRegions() {
  SmallVector<Type> expected = getArgumentTypes(getWork());
  if (!llvm::equal(getBody().getArgumentTypes(), expected))
    return emitOpError() << "has block arguments " << getBody().getArgumentTypes() << " but needs " << expected;
  if (getBody().front().getTerminator()->getNumOperands() != 0)
    return emitOpError() << "yields values; a program must not";
  return success();
}

SmallVector<Region *> ProgramsOp::getLoopRegions() {
  return {&getBody()};
}

void ProgramsOp::replaceGridOps() {
  getBody().walk([&](Operation *op) {
    if (auto id = dyn_cast<ProgramIdOp>(op))
      id.replaceAllUsesWith(Value(getCoordinates()[id.getAxis()]));
    else if (auto size = dyn_cast<NumProgramsOp>(op))
      size.replaceAllUsesWith(Value(getSizes()[size.getAxis()]));
    else
      return;
    op->erase();
  });
}

void ProgramsOp::splitSteps(WorkAttr work, Value steps) {
  setWorkAttr(work);
  if (steps)
    getStepsMutable().assign(steps);
  SmallVector<Type> types = getArgumentTypes(work);
  for (Type type : ArrayRef(types).drop_front(getBody().getNumArguments()))
    getBody().addArgument(type, getLoc());
}

LogicalResult PrintOp::verify() {
  if (getIsUnsigned() && getIsUnsigned()->size() != getArgs().size())
    return emitOpError() << "isUnsigned has " << getIsUnsigned()->size() << " entries for " << getArgs().size()
                         << " operands";
  RankedTensorType first;
  for (Type type : getArgs().getTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!first)
      first = tensor;
    if (tensor && tensor.getShape() != first.getShape())
      return emitOpError() << "operands have shapes [" << first.getShape() << "] and [" << tensor.getShape()
                           << "]; they must agree";
  }
  return success();
}

std::pair<Value, Value> Swizzle2dOp::expand(OpBuilder &builder, Location loc, Value ij, Value sizeI, Value sizeJ,
                                            Value sizeG) {
  auto add = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); };
  auto sub = [&](Value a, Value b) -> Value { return arith::SubIOp::create(builder, loc, a, b); };
  auto mul = [&](Value a, Value b) -> Value { return arith::MulIOp::create(builder, loc, a, b); };
  auto div = [&](Value a, Value b) -> Value { return arith::DivUIOp::create(builder, loc, a, b); };
  Value groupSize = mul(sizeG, sizeJ);
  Value group = div(ij, groupSize);
  Value firstRow = mul(group, sizeG);
  Value rows = arith::MinUIOp::create(builder, loc, sub(sizeI, firstRow), sizeG);
  Value inGroup = sub(ij, mul(group, groupSize));
  Value column = div(inGroup, rows);
  return {add(firstRow, sub(inGroup, mul(column, rows))), column};
}

LogicalResult WaitFlagOp::verify() {
  Type flag = getPtr().getType().getPointee();
  if (!flag.isInteger(32))
    return emitOpError() << "waits for a flag of " << flag << "; expected i32";
  return success();
}
