// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Verification of rings.
#include "Cta/CtaDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError, int64_t slots,
                               ArrayRef<BufferType> buffers) {
  if (slots < 1 || slots > maxSlots)
    return emitError() << "ring has " << slots << " slots; expected 1 to " << maxSlots;
  for (BufferType buffer : buffers)
    if (buffer.getSlots() != 1)
      return emitError() << "buffer of a ring has " << buffer.getSlots()
                         << " separate slots but must have 1: " << buffer;
  return success();
}

LogicalResult RingAllocOp::verify() {
  if (int64_t ctas = int32_t(getCtas()); ctas != 1 && failed(verifyCtas(*this, ctas)))
    return failure();
  return success();
}

LogicalResult RingBuffersOp::inferReturnTypes(MLIRContext *, std::optional<Location>, RingBuffersOp::Adaptor adaptor,
                                              SmallVectorImpl<Type> &types) {
  llvm::append_range(types, cast<RingType>(adaptor.getRing().getType()).getBuffers());
  return success();
}
