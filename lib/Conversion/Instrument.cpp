// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// nvvm-instrument: record when warps wait, copy and multiply.
//
// A kernel gets an additional parameter, the buffer that lib/Target/TimeRecords.h describes. Each thread tracks the
// address of its warp's next record; the lowest active lane writes the record. Records are written without branches,
// because ptxas waits for all wgmmas before divergent control flow.
//
//   mbarrier.try_wait …                         record (wait, begin)
//                                         ==>   mbarrier.try_wait …
//                                               record (wait, end)
#include "Conversion/Passes.h"
#include "CtaToNvvm/Ptx.h"
#include "Target/GpuTarget.h"

#include "Target/TimeRecords.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "llvm/Support/FormatVariadic.h"

namespace tile {
#define GEN_PASS_DEF_NVVMINSTRUMENT
#include "Conversion/Passes.h.inc"
} // namespace tile

using namespace mlir;
using tile::target::TimeMark;
using Record = tile::target::TimeRecord;

namespace {

/// How an operation is recorded.
struct Recorded {
  TimeMark mark;
  bool hasEnd; ///< it takes time, so its end is recorded as well; otherwise only its start
};

std::optional<Recorded> classify(Operation *op) {
  if (isa<NVVM::BarrierOp>(op))
    return Recorded{TimeMark::BarrierSync, true};
  if (isa<NVVM::CpAsyncWaitGroupOp, NVVM::CpAsyncBulkWaitGroupOp>(op))
    return Recorded{TimeMark::CopiesWait, true};
  if (isa<NVVM::CpAsyncBulkTensorGlobalToSharedClusterOp>(op))
    return Recorded{TimeMark::Copy, false};
  auto statement = dyn_cast<LLVM::InlineAsmOp>(op);
  if (!statement)
    return std::nullopt;
  // Operations that convert-cta-to-nvvm emits as inline PTX are recognised by their text.
  const std::pair<StringRef, Recorded> known[] = {
      {"mbarrier.try_wait", {TimeMark::BarrierWait, true}}, {"wgmma.wait_group", {TimeMark::MmasWait, true}},
      {"cp.async.wait", {TimeMark::CopiesWait, true}},      {"cp.async.bulk.wait", {TimeMark::CopiesWait, true}},
      {"cp.async.bulk.tensor", {TimeMark::Copy, false}},    {"cp.async.bulk.shared", {TimeMark::Copy, false}},
      {"wgmma.mma_async", {TimeMark::Mmas, false}},         {"bar.sync", {TimeMark::BarrierSync, true}},
      {"barrier.sync", {TimeMark::BarrierSync, true}},      {"@early bra again", {TimeMark::FlagWait, true}}};
  for (const auto &[text, recorded] : known)
    if (statement.getAsmString().contains(text))
      return recorded;
  return std::nullopt;
}

StringAttr fileOf(Location location) {
  auto place = location->findInstanceOf<FileLineColLoc>();
  return place ? place.getFilename() : StringAttr();
}

/// Returns the innermost line of `location` in the kernel's file, or 0.
uint32_t lineOf(Location location, StringAttr file) {
  uint32_t line = 0;
  location->walk([&](Location nested) {
    if (auto place = dyn_cast<FileLineColLoc>(nested); place && place.getFilename() == file)
      line = place.getLine();
    return line ? WalkResult::interrupt() : WalkResult::advance();
  });
  return line;
}

class Recorder {
public:
  explicit Recorder(LLVM::LLVMFuncOp kernel)
      : kernel(kernel), file(fileOf(kernel.getLoc())), builder(kernel.getContext()) {}

  void run() {
    SmallVector<std::pair<Operation *, Recorded>> found;
    SmallVector<Operation *> ends;
    kernel.walk([&](Operation *op) {
      if (isa<LLVM::ReturnOp>(op))
        ends.push_back(op);
      if (std::optional<Recorded> recorded = classify(op))
        found.push_back({op, *recorded});
    });
    start();
    for (auto [op, recorded] : found) {
      builder.setInsertionPoint(op);
      record(op->getLoc(), {recorded.mark, false, lineOf(op->getLoc(), file)});
      builder.setInsertionPointAfter(op);
      if (recorded.hasEnd)
        record(op->getLoc(), {recorded.mark, true, lineOf(op->getLoc(), file)});
    }
    for (Operation *op : ends) {
      builder.setInsertionPoint(op);
      recordEnd(op->getLoc());
    }
  }

private:
  /// Returns the number of parameters that come from the source. They precede the launcher's parameters, which have
  /// attributes of the tile dialect.
  unsigned numParameters() {
    for (unsigned index = 0; index < kernel.getNumArguments(); ++index)
      for (NamedAttribute attribute : mlir::function_interface_impl::getArgAttrs(kernel, index))
        if (attribute.getName().strref().starts_with("tile."))
          return index;
    return kernel.getNumArguments();
  }

  /// Inserts a parameter at `index`; FunctionOpInterface's insertArgument does not support functions without a result.
  Value insertArgument(unsigned index) {
    auto pointer = LLVM::LLVMPointerType::get(kernel.getContext(), /*addressSpace=*/1);
    SmallVector<Type> types(kernel.getArgumentTypes());
    SmallVector<DictionaryAttr> attributes;
    kernel.getAllArgAttrs(attributes);
    types.insert(types.begin() + index, pointer);
    attributes.insert(attributes.begin() + index, builder.getDictionaryAttr({}));
    kernel.setFunctionType(LLVM::LLVMFunctionType::get(kernel.getFunctionType().getReturnType(), types));
    Value argument = kernel.getBody().front().insertArgument(index, pointer, kernel.getLoc());
    kernel.setAllArgAttrs(attributes);
    return argument;
  }

  /// Emits the computation of where the warp's records begin and end. For CTAs that are not recorded, this range is
  /// empty. The first thread writes the CTA's start time, both from %globaltimer and from %clock64.
  void start() {
    Location loc = kernel.getLoc();
    unsigned index = numParameters();
    Value times = insertArgument(index);
    int64_t threads = kernel->getAttrOfType<DenseI32ArrayAttr>(NVVM::NVVMDialect::getReqntidAttrName())[0];
    constexpr int64_t warpBytes = tile::target::timesPerWarp * tile::target::timeBytes;
    const int64_t ctaBytes =
        tile::target::timesPerCta(threads / tile::target::threadsPerWarp) * tile::target::timeBytes;
    builder.setInsertionPointToStart(&kernel.getBody().front());
    Type word = builder.getI64Type();
    SmallVector<Value> area = tile::conversion::emitPtx(
        builder, loc,
        {.text = llvm::formatv("{{\n.reg .b32 cta, size, id;\n.reg .b64 base, time;\n.reg .pred timed, first;\n"
                               "mov.u32 cta, %ctaid.z;\nmov.u32 size, %nctaid.y;\nmov.u32 id, %ctaid.y;\n"
                               "mad.lo.u32 cta, cta, size, id;\n"
                               "mov.u32 size, %nctaid.x;\nmov.u32 id, %ctaid.x;\nmad.lo.u32 cta, cta, size, id;\n"
                               "setp.lt.u32 timed, cta, {0};\nmad.wide.u32 base, cta, {1}, $2;\n"
                               "mov.u32 id, %tid.x;\nsetp.eq.u32 first, id, 0;\nand.pred first, first, timed;\n"
                               "mov.u64 time, %globaltimer;\n@first st.global.b64 [base], time;\n"
                               "mov.u64 time, %clock64;\n@first st.global.b64 [base+8], time;\n"
                               "add.u64 base, base, {2};\nshr.u32 id, id, 5;\n"
                               "mad.wide.u32 base, id, {3}, base;\nmov.u64 $0, base;\nmov.u64 $1, base;\n"
                               "@timed add.u64 $1, $1, {4};\n}",
                               tile::target::timedCtas, ctaBytes, tile::target::timeBytes, warpBytes,
                               warpBytes - tile::target::timeBytes)
                     .str(),
         .results = {word, word},
         .operands = {times}});
    // LLVM promotes this variable to a register.
    Value one = LLVM::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1));
    next = LLVM::AllocaOp::create(builder, loc, LLVM::LLVMPointerType::get(kernel.getContext()), word, one);
    begin = area[0];
    end = area[1];
    LLVM::StoreOp::create(builder, loc, area[0], next);
    record(loc, {TimeMark::Warp, false, 0});
  }

  void record(Location loc, Record what) {
    Type word = builder.getI64Type();
    Value place = LLVM::LoadOp::create(builder, loc, word, next);
    Value code = LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(what.encode()));
    SmallVector<Value> after = tile::conversion::emitPtx(
        builder, loc,
        {.text = "{\n.reg .b32 lanes, lowest;\n.reg .b64 time, what;\n.reg .pred writes, fits;\n"
                 "mov.u64 time, %clock64;\nmov.u64 what, $3;\nactivemask.b32 lanes;\nneg.s32 lowest, lanes;\n"
                 "and.b32 lowest, lowest, lanes;\nmov.u32 lanes, %lanemask_eq;\nsetp.eq.u32 writes, lanes, lowest;\n"
                 "setp.lt.u64 fits, $1, $2;\nand.pred writes, writes, fits;\n"
                 "@writes st.global.v2.b64 [$1], {what, time};\nadd.u64 $0, $1, 16;\n}",
         .results = {word},
         .operands = {place, end, code},
         .immediates = {2}});
    LLVM::StoreOp::create(builder, loc, after.front(), next);
  }

  /// Writes the warp's end record, which has a fixed location. The reason is that if only one thread of a warp works,
  /// the other lanes exit earlier, when the number of records is not yet known.
  void recordEnd(Location loc) {
    Value code =
        LLVM::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(Record{TimeMark::Warp, true}.encode()));
    tile::conversion::emitPtx(builder, loc,
                              {.text =
                                   "{\n.reg .b32 lane;\n.reg .b64 time, what;\n.reg .pred writes, timed;\n"
                                   "mov.u64 time, %clock64;\nmov.u64 what, $2;\nmov.u32 lane, %laneid;\n"
                                   "setp.eq.u32 writes, lane, 0;\nsetp.ne.u64 timed, $0, $1;\n"
                                   "and.pred writes, writes, timed;\n@writes st.global.v2.b64 [$1], {what, time};\n}",
                               .operands = {begin, end, code},
                               .immediates = {2}});
  }

  LLVM::LLVMFuncOp kernel;
  StringAttr file;
  OpBuilder builder;
  Value next;       ///< the variable that holds the address of the next record
  Value begin, end; ///< the range of the records; the end record follows
};

struct NvvmInstrument : tile::impl::NvvmInstrumentBase<NvvmInstrument> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<LLVM::LLVMFuncOp>())
      if (function->hasAttr(NVVM::NVVMDialect::getKernelFuncAttrName()))
        Recorder(function).run();
  }
};

} // namespace
