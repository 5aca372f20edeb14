// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Builtins: block pointers. A block pointer is a window of constant shape on a strided tensor.
//
// make_block_ptr keeps base, shape, strides and offsets (i64) as one value that flows through branches and loops. An
// access computes pointers from these values, and masks for the dimensions in 'boundary_check':
//
//   pointer[i, j] = base + (offset0 + i) * stride0 + (offset1 + j) * stride1;  inside: 0 <= offset_d + i < shape_d

#include "Frontend/Emit/EmitMemory.h"

using namespace mlir;

namespace tile::frontend {

SymValue emitMakeBlockPtr(Emitter &sema, BuiltinCall &call) {
  SymValue base = pointerOperand(call);
  auto block = call.shape(4);
  if (base.isError() || !block)
    return {};
  if (!base.isScalar())
    return sema.error(Diag::scalar_needed, call.rangeOf(0), {"base", "make_block_ptr", describe(base)});
  if (!call[5].isTuple() || call[5].elements.size() != block->size())
    return sema.error(Diag::descriptor_rank, call.rangeOf(5),
                      {"order", describe(call[5]), std::to_string(block->size())});
  SymValue result;
  result.kind = SymValue::Kind::BlockPointer;
  result.type = base.type;
  result.dims.assign(block->begin(), block->end());
  result.elements.push_back(base);
  for (size_t index : {1u, 2u, 3u}) {
    auto integers = call.integers(index, block->size(), Scalar::Int64);
    if (!integers)
      return {};
    llvm::append_range(result.elements, *integers);
  }
  return result;
}

static bool blockPointerOperand(BuiltinCall &call) {
  if (call[0].kind == SymValue::Kind::BlockPointer)
    return true;
  if (!call[0].isError())
    call.sema.error(Diag::block_pointer_needed, call.rangeOf(0), {std::string(call.info.name), describe(call[0])});
  return false;
}

SymValue emitAdvance(Emitter &sema, BuiltinCall &call) {
  if (!blockPointerOperand(call))
    return {};
  SymValue result = call[0];
  size_t rank = result.dims.size();
  auto steps = call.integers(1, rank, Scalar::Int64);
  if (!steps)
    return {};
  for (size_t dim = 0; dim < rank; ++dim) {
    SymValue &offset = result.elements[1 + 2 * rank + dim];
    offset = sema.binary(BinaryOp::Add, offset, (*steps)[dim], call.range);
  }
  return result;
}

/// Returns the dimensions in 'boundary_check'; nullopt after an error.
static std::optional<std::set<int64_t>> checkedDimensions(BuiltinCall &call, size_t index, size_t rank) {
  SymValue list = call[index].isTuple() || call[index].isNoneValue() ? call[index] : SymValue::makeTuple({call[index]});
  std::set<int64_t> dims;
  for (const SymValue &element : list.elements) {
    std::optional<Int128> dim = element.isConstant() ? asInteger(element.constant) : std::nullopt;
    if (!dim) {
      call.constantNeeded(index);
      return std::nullopt;
    }
    if (*dim < 0 || *dim >= static_cast<Int128>(rank)) {
      call.sema.error(Diag::axis_range, call.rangeOf(index), {str(element.constant), std::to_string(rank)});
      return std::nullopt;
    }
    dims.insert(static_cast<int64_t>(*dim));
  }
  return dims;
}

std::optional<BlockAddress> expandBlockPointer(BuiltinCall &call, size_t boundaryIndex) {
  Emitter &sema = call.sema;
  const SymValue &block = call[0];
  size_t rank = block.dims.size();
  auto checked = checkedDimensions(call, boundaryIndex, rank);
  if (!checked)
    return std::nullopt;
  BlockAddress result{block.elements[0], {}};
  for (size_t dim = 0; dim < rank; ++dim) {
    const SymValue &size = block.elements[1 + dim], &stride = block.elements[1 + rank + dim],
                   &offset = block.elements[1 + 2 * rank + dim];
    SymValue place = sema.cast(sema.arange(0, block.dims[dim], call.range), Scalar::Int64, call.range);
    place = sema.binary(BinaryOp::Add, place, offset, call.range);
    for (size_t other = 0; other < rank; ++other)
      if (other != dim)
        place = sema.expandDims(place, static_cast<int64_t>(other), call.range);
    result.pointer =
        sema.binary(BinaryOp::Add, result.pointer, sema.binary(BinaryOp::Mult, place, stride, call.range), call.range);
    if (!checked->contains(static_cast<int64_t>(dim)))
      continue;
    SymValue zero = SymValue::makeConstant(Int128(0));
    SymValue inside = sema.logical(BoolOperator::And, sema.compare(CompareOp::GtE, place, zero, call.range),
                                   sema.compare(CompareOp::Lt, place, size, call.range), call.range);
    result.mask = result.mask.isTensor() ? sema.logical(BoolOperator::And, result.mask, inside, call.range) : inside;
  }
  if (result.pointer.isError())
    return std::nullopt;
  if (result.mask.isTensor())
    result.mask = sema.broadcastTo(result.mask, block.dims, call.range);
  return result;
}

} // namespace tile::frontend
