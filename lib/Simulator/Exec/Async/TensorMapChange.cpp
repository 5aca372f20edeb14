// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// tensormap.replace, tensormap.cp_fenceproxy: tensor maps that a kernel creates. PTX ISA 9.7.9.26, 9.7.13.16.
#include "Simulator/Exec/Async/Async.h"
#include "Simulator/Exec/Async/MapAccess.h"

#include <fmt/format.h>

namespace tile::sim {

namespace {

enum class MapField : uint8_t {
  GlobalAddress,
  Rank,
  BoxDim,
  GlobalDim,
  GlobalStride,
  ElementStride,
  ElementType,
  InterleaveLayout,
  SwizzleMode,
  FillMode
};

/// The element types of tensormap.replace. Their order differs from the driver's (PTX ISA, "Tensor-map new value
/// validity").
constexpr MapType replaceTypes[] = {MapType::U8,   MapType::U16,  MapType::U32,    MapType::S32,    MapType::U64,
                                    MapType::S64,  MapType::F16,  MapType::F32,    MapType::F32Ftz, MapType::F64,
                                    MapType::BF16, MapType::TF32, MapType::TF32Ftz};

class Replace final : public Operation {
public:
  MapField field = MapField::GlobalAddress;
  Space space = Space::Generic;
  unsigned ordinal = 0;
  AddressSource address;
  bool isWide = false;
  Source<uint64_t> wide;
  Source<uint32_t> narrow;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    for (; active; active &= active - 1) {
      unsigned lane = firstLane(active);
      std::byte *bytes = resolveTensorMap(warp, *instruction, lane, space, address.one(warp, lane), AccessKind::Write,
                                          {Space::Global, Space::Shared});
      if (!bytes)
        return Step::Fault;
      TensorMap map;
      if (!readTensorMapFields(bytes, map))
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, lane,
                          "the 128 bytes are neither a tensor map nor zeros");
      uint64_t value = isWide ? wide.one(warp, lane) : narrow.one(warp, lane);
      if (!set(map, value))
        return warp.fault(ReportKind::InvalidOperand, instruction->loc, lane,
                          fmt::format("{} is not valid for this field of a tensor map", value));
      map.madeByKernel = true;
      writeTensorMapFields(map, bytes);
      if (const uint64_t at = address.one(warp, lane); space == Space::Global || at >= globalBase)
        noteMapChange(warp, at);
      warp.cta.cluster.noteProgress();
    }
    return Step::Next;
  }

private:
  bool set(TensorMap &map, uint64_t value) const {
    constexpr uint64_t maxBox = 256, maxElementStride = 8, maxModes = 4;
    switch (field) {
    case MapField::GlobalAddress:
      map.address = value;
      return true;
    case MapField::Rank: // the value is one less than the number of dimensions
      map.rank = value + 1;
      return value < maxTensorDimensions;
    case MapField::BoxDim:
      map.box[ordinal] = value;
      return value >= 1 && value <= maxBox;
    case MapField::GlobalDim:
      map.sizes[ordinal] = value;
      return value >= 1;
    case MapField::GlobalStride:
      map.strides[ordinal] = value;
      return true;
    case MapField::ElementStride:
      map.elementStrides[ordinal] = value;
      return value >= 1 && value <= maxElementStride;
    case MapField::ElementType:
      map.type = value < std::size(replaceTypes) ? replaceTypes[value] : MapType::U8;
      return value < std::size(replaceTypes);
    case MapField::InterleaveLayout:
      map.interleave = value;
      return value < maxModes;
    case MapField::SwizzleMode:
      map.swizzle = MapSwizzle(value);
      return value < maxModes;
    case MapField::FillMode:
      map.fill = MapFill(value);
      return value < 2;
    }
    return false;
  }
};

/// Copies a map to global memory and executes a release fence. The whole warp executes the instruction together.
class CopyFenced final : public Operation {
public:
  AddressSource destination, source;
  Scope scope = Scope::Gpu;

  Step execute(Warp &warp, Fragment &, LaneMask active) const override {
    unsigned lane = firstLane(active);
    std::byte *from = resolveTensorMap(warp, *instruction, lane, Space::Shared, source.one(warp, lane),
                                       AccessKind::Read, {Space::Shared});
    std::byte *to = from ? resolveTensorMap(warp, *instruction, lane, Space::Global, destination.one(warp, lane),
                                            AccessKind::Write, {Space::Global})
                         : nullptr;
    if (!to)
      return Step::Fault;
    std::memcpy(to, from, tensorMapBytes);
    // This instruction includes a release of the map.
    warp.cta.cluster.machine.unreleasedMaps.release({destination.one(warp, lane)});
    if (Checker *checker = checkerOf(warp))
      checker->fence(warp, scope, active);
    warp.cta.cluster.noteProgress();
    return Step::Next;
  }
};

/// tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.scope.sync.aligned [to], [from], 128
Result<OperationPtr> decodeCopyFenced(Decoding &d) {
  bool known = d.take("global") && d.take("shared::cta") && d.take("tensormap::generic") && d.take("release");
  int scope = known ? d.takeOne({"cta", "cluster", "gpu", "sys"}) : -1;
  if (scope < 0 || !d.take("sync") || !d.take("aligned") || !d.finished(3))
    return d.unsupported();
  if (d.operand(2).kind != Operand::Kind::Immediate || d.operand(2).bits != tensorMapBytes)
    return d.error("the size must be 128");
  auto operation = std::make_unique<CopyFenced>();
  operation->aligned = true;
  operation->scope = Scope(scope);
  operation->destination = d.address(d.operand(0));
  operation->source = d.address(d.operand(1));
  return decoded(d, std::move(operation));
}

} // namespace

Result<OperationPtr> decodeTensorMapChange(Decoding &d) {
  if (d.take("cp_fenceproxy"))
    return decodeCopyFenced(d);
  if (!d.take("replace") || !d.take("tile"))
    return d.unsupported();
  int field = d.takeOne({"global_address", "rank", "box_dim", "global_dim", "global_stride", "element_stride",
                         "elemtype", "interleave_layout", "swizzle_mode", "fill_mode"});
  if (field < 0)
    return d.unsupported();
  auto operation = std::make_unique<Replace>();
  operation->field = MapField(field);
  int space = d.takeOne({"global", "shared::cta"});
  operation->space = space < 0 ? Space::Generic : space == 0 ? Space::Global : Space::Shared;
  operation->isWide = operation->field == MapField::GlobalAddress || operation->field == MapField::GlobalStride;
  bool hasOrdinal = operation->field >= MapField::BoxDim && operation->field <= MapField::ElementStride;
  if (!d.take("b1024") || !d.take(operation->isWide ? "b64" : "b32") || !d.finished(2 + hasOrdinal))
    return d.unsupported();
  operation->address = d.address(d.operand(0));
  if (hasOrdinal) {
    const Operand &ordinal = d.operand(1);
    uint64_t end = maxTensorDimensions - (operation->field == MapField::GlobalStride);
    if (ordinal.kind != Operand::Kind::Immediate || ordinal.bits >= end)
      return d.error("the dimension must be a constant from 0 to " + std::to_string(end - 1));
    operation->ordinal = ordinal.bits;
  }
  const Operand &value = d.operand(1 + hasOrdinal);
  if (operation->field >= MapField::ElementType && value.kind != Operand::Kind::Immediate)
    return d.error("the new value must be a constant");
  if (operation->isWide)
    operation->wide = d.source<uint64_t>(value);
  else
    operation->narrow = d.source<uint32_t>(value);
  return decoded(d, std::move(operation));
}

} // namespace tile::sim
