// The kernel operation: syntax and verification.
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
  auto name = getArgAttrOfType<StringAttr>(index, getArgNameAttrName());
  return name ? name.str() : "arg" + std::to_string(index);
}

/// CUDA programming guide, "Thread Block Clusters": clusters of up to 8 CTAs are portable.
static LogicalResult verifyCluster(KernelOp kernel) {
  constexpr int64_t mostCtas = 8;
  int64_t ctas = 1;
  if (std::optional<ArrayRef<int32_t>> shape = kernel.getCluster()) {
    if (shape->size() != 3)
      return kernel.emitOpError() << "cluster has " << shape->size() << " numbers but needs 3";
    for (int32_t extent : *shape) {
      if (extent < 1 || extent > mostCtas || !llvm::isPowerOf2_32(extent))
        return kernel.emitOpError() << "cluster is [" << *shape << "]; its numbers must be 1, 2, 4 or 8";
      ctas *= extent;
    }
  }
  if (ctas > mostCtas)
    return kernel.emitOpError() << "cluster has " << ctas << " CTAs; at most 8 are possible";
  if (int64_t formed = int32_t(kernel.getClusterCtas()); formed != 1 && formed != ctas)
    return kernel.emitOpError() << "cluster_ctas is " << formed << " but the cluster asked for has " << ctas;
  return success();
}

LogicalResult KernelOp::verify() {
  if (!getFunctionType().getResults().empty())
    return emitOpError() << "has " << getFunctionType().getNumResults() << " results; a kernel returns nothing";
  if (!getBody().hasOneBlock())
    return emitOpError() << "has " << getBody().getBlocks().size()
                         << " blocks; a kernel has one, and loops and branches "
                         << "of scf";
  for (auto [index, type] : llvm::enumerate(getFunctionType().getInputs()))
    if (!isa<PtrType, DescType, IntegerType, FloatType>(type))
      return emitOpError() << "argument " << index << " is " << type << "; a kernel takes scalars and pointers";
  uint32_t warps = getNumWarps();
  if (warps < 1 || warps > 32 || !llvm::isPowerOf2_32(warps))
    return emitOpError() << "num_warps is " << warps << " but must be a power of two from 1 to 32";
  uint32_t stages = getNumStages();
  if (stages < 1 || stages > 16)
    return emitOpError() << "num_stages is " << stages << " but must be from 1 to 16";
  constexpr uint32_t warpsPerGroup = 4, mostTeams = 2;
  if (getTeams() < 1 || getTeams() > mostTeams || (getTeams() > 1 && warps != warpsPerGroup))
    return emitOpError() << "has " << int32_t(getTeams()) << " teams of " << warps
                         << " warps; possible are one team, or two of 4 warps";
  return verifyCluster(*this);
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

std::pair<Value, Value> Swizzle2dOp::expand(OpBuilder &builder, Value ij) {
  Location loc = getLoc();
  auto add = [&](Value a, Value b) -> Value { return arith::AddIOp::create(builder, loc, a, b); };
  auto sub = [&](Value a, Value b) -> Value { return arith::SubIOp::create(builder, loc, a, b); };
  auto mul = [&](Value a, Value b) -> Value { return arith::MulIOp::create(builder, loc, a, b); };
  auto div = [&](Value a, Value b) -> Value { return arith::DivUIOp::create(builder, loc, a, b); };
  Value groupSize = mul(getSizeG(), getSizeJ());
  Value group = div(ij, groupSize);
  Value firstRow = mul(group, getSizeG());
  Value rows = arith::MinUIOp::create(builder, loc, sub(getSizeI(), firstRow), getSizeG());
  Value inGroup = sub(ij, mul(group, groupSize));
  Value column = div(inGroup, rows);
  return {add(firstRow, sub(inGroup, mul(column, rows))), column};
}
