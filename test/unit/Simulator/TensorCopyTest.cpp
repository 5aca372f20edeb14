// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests tensor copies against a separate computation of each element: boxes, strides, swizzles, fill, reductions; and
// the rules of tensor maps.
#include "SimulatedKernel.h"

#include "Simulator/Exec/Async/TensorMap.h"

#include <algorithm>
#include <cmath>
#include <random>

using namespace tile::sim;

namespace {

constexpr uint32_t bufferBytes = SimulatedKernel::bufferBytes;

/// Address of the first buffer of a SimulatedKernel.
uint64_t firstAddress() {
  GlobalMemory memory;
  std::byte byte;
  return memory.add("x", &byte, 1);
}

TensorMap makeMap(MapType type, std::vector<uint64_t> sizes, std::vector<uint32_t> box) {
  TensorMap map;
  map.address = firstAddress();
  map.rank = sizes.size();
  map.type = type;
  uint64_t stride = mapTypeBytes(type);
  for (unsigned dim = 0; dim < map.rank; ++dim) {
    map.sizes[dim] = sizes[dim];
    map.box[dim] = box[dim];
    map.elementStrides[dim] = 1;
    stride = (stride * sizes[dim] + 15) / 16 * 16;
    if (dim + 1 < map.rank)
      map.strides[dim] = stride;
  }
  return map;
}

std::string coordinateList(const TensorMap &map, const std::vector<int32_t> &coordinates) {
  std::string list;
  for (unsigned dim = 0; dim < map.rank; ++dim)
    list += (dim ? ", " : "") + std::to_string(coordinates[dim]);
  return "{" + list + "}";
}

uint32_t boxBytes(const TensorMap &map) {
  uint32_t bytes = map.elementBytes();
  for (unsigned dim = 0; dim < map.rank; ++dim)
    bytes *= map.boxElements(dim);
  return bytes;
}

const std::string copyOut = R"(
    mul.lo.u32 %r10, %r0, 64;
    cvt.u64.u32 %d10, %r10;
    add.s64 %d11, %d2, %d10;
    mov.u32 %r11, data;
    add.u32 %r11, %r11, %r10;
    ld.shared.v4.b32 {%r12, %r13, %r14, %r15}, [%r11];
    st.global.v4.b32 [%d11], {%r12, %r13, %r14, %r15};
    ld.shared.v4.b32 {%r12, %r13, %r14, %r15}, [%r11+16];
    st.global.v4.b32 [%d11+16], {%r12, %r13, %r14, %r15};
    ld.shared.v4.b32 {%r12, %r13, %r14, %r15}, [%r11+32];
    st.global.v4.b32 [%d11+32], {%r12, %r13, %r14, %r15};
    ld.shared.v4.b32 {%r12, %r13, %r14, %r15}, [%r11+48];
    st.global.v4.b32 [%d11+48], {%r12, %r13, %r14, %r15};
)";

/// Returns the PTX that copies 4096 bytes of the buffer to `data`.
const std::string copyIn = R"(
    mul.lo.u32 %r10, %r0, 64;
    cvt.u64.u32 %d10, %r10;
    add.s64 %d11, %d2, %d10;
    mov.u32 %r11, data;
    add.u32 %r11, %r11, %r10;
    ld.global.v4.b32 {%r12, %r13, %r14, %r15}, [%d11];
    st.shared.v4.b32 [%r11], {%r12, %r13, %r14, %r15};
    ld.global.v4.b32 {%r12, %r13, %r14, %r15}, [%d11+16];
    st.shared.v4.b32 [%r11+16], {%r12, %r13, %r14, %r15};
    ld.global.v4.b32 {%r12, %r13, %r14, %r15}, [%d11+32];
    st.shared.v4.b32 [%r11+32], {%r12, %r13, %r14, %r15};
    ld.global.v4.b32 {%r12, %r13, %r14, %r15}, [%d11+48];
    st.shared.v4.b32 [%r11+48], {%r12, %r13, %r14, %r15};
)";

/// Zeroes `data`, loads the box to data + `offset`, and copies `data` to buffer 2.
std::string loadKernel(const TensorMap &map, const std::vector<int32_t> &coordinates, uint32_t offset) {
  std::string bytes = std::to_string(boxBytes(map)), rank = std::to_string(map.rank);
  return R"(
    .shared .align 8 .b64 bar;
    mov.u32 %r1, data;
    mul.lo.u32 %r2, %r0, 64;
    add.u32 %r1, %r1, %r2;
    mov.b32 %r3, 0;
    st.shared.v4.b32 [%r1], {%r3, %r3, %r3, %r3};
    st.shared.v4.b32 [%r1+16], {%r3, %r3, %r3, %r3};
    st.shared.v4.b32 [%r1+32], {%r3, %r3, %r3, %r3};
    st.shared.v4.b32 [%r1+48], {%r3, %r3, %r3, %r3};
    fence.proxy.async.shared::cta;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra initialised;
    mbarrier.init.shared::cta.b64 [bar], 1;
    fence.mbarrier_init.release.cluster;
  initialised:
    bar.sync 0;
    @%p0 bra wait;
    mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], )" +
         bytes + ";\n    cp.async.bulk.tensor." + rank +
         "d.shared::cta.global.tile.mbarrier::complete_tx::bytes [data+" + std::to_string(offset) + "], [%d1, " +
         coordinateList(map, coordinates) + R"(], [bar];
  wait:
    mbarrier.try_wait.parity.shared::cta.b64 %p1, [bar], 0;
    @!%p1 bra wait;
  )" + copyOut;
}

/// Bits of elements of 1 to 8 bytes.
uint64_t readElement(const std::byte *from, unsigned bytes) {
  uint64_t value = 0;
  std::memcpy(&value, from, bytes);
  return value;
}

/// Byte offset in the box → offset in shared memory, for a box at a multiple of 1024; PTX ISA's pictures of the modes.
uint32_t placed(uint32_t offset, MapSwizzle swizzle) {
  uint32_t line = offset / 128, chunk = offset / 16 % 8, within = offset % 16;
  switch (swizzle) {
  case MapSwizzle::None:
    break;
  case MapSwizzle::Bytes32: // pairs of chunks are swapped in every second line
    chunk ^= line % 2;
    break;
  case MapSwizzle::Bytes64:
    chunk ^= line % 4;
    break;
  case MapSwizzle::Bytes128:
    chunk ^= line % 8;
    break;
  }
  return line * 128 + chunk * 16 + within;
}

/// Offset of a byte of the box before swizzling: a row takes a whole span of the swizzle.
uint32_t unswizzled(const TensorMap &map, uint32_t byte) {
  uint32_t row = map.boxElements(0) * map.elementBytes();
  uint32_t pitch = map.swizzle == MapSwizzle::None ? row : 16u << int(map.swizzle);
  return byte / row * pitch + byte % row;
}

/// Returns the contents of `data` after the load.
std::vector<std::byte> expectedBox(const TensorMap &map, const std::vector<int32_t> &coordinates,
                                   const std::vector<std::byte> &tensor, uint64_t outside) {
  std::vector<std::byte> result(bufferBytes);
  unsigned size = map.elementBytes();
  uint32_t elements = boxBytes(map) / size;
  for (uint32_t index = 0; index < elements; ++index) {
    uint32_t rest = index;
    int64_t from = 0;
    bool inside = true;
    for (unsigned dim = 0; dim < map.rank; ++dim) {
      int64_t at = coordinates[dim] + int64_t(rest % map.boxElements(dim)) * (dim ? map.elementStrides[dim] : 1);
      rest /= map.boxElements(dim);
      inside &= at >= 0 && at < int64_t(map.sizes[dim]);
      from += at * int64_t(dim ? map.strides[dim - 1] : size);
    }
    uint64_t value = inside ? readElement(tensor.data() + from, size) : outside;
    std::memcpy(result.data() + placed(unswizzled(map, index * size), map.swizzle), &value, size);
  }
  return result;
}

void fillRandomly(std::vector<std::byte> &buffer, unsigned seed) {
  std::mt19937 generator(seed);
  for (std::byte &byte : buffer)
    byte = std::byte(generator());
}

void setMap(SimulatedKernel &kernel, const TensorMap &map) {
  auto bytes = encodeTensorMap(map);
  ASSERT_TRUE(bytes) << bytes.error().message;
  kernel.clearsBuffers = false;
  std::copy(bytes->begin(), bytes->end(), kernel.buffers[1].begin());
}

void checkLoad(const TensorMap &map, const std::vector<int32_t> &coordinates, uint64_t outside = 0) {
  for (uint64_t seed = 0; seed < 3; ++seed) {
    SimulatedKernel kernel(loadKernel(map, coordinates, 0), 3);
    fillRandomly(kernel.buffers[0], 1);
    setMap(kernel, map);
    auto reports = kernel.run(seed);
    ASSERT_TRUE(reports.empty()) << kernel.text(reports);
    auto expected = expectedBox(map, coordinates, kernel.buffers[0], outside);
    for (uint32_t i = 0; i < bufferBytes; ++i)
      ASSERT_EQ(kernel.buffers[2][i], expected[i])
          << "byte " << i << ", seed " << seed << ", rank " << map.rank << ", coordinates "
          << coordinateList(map, coordinates) << ", swizzle " << int(map.swizzle);
  }
}

TEST(TensorCopy, boxesOfAllRanks) {
  checkLoad(makeMap(MapType::F32, {900}, {128}), {-8});
  checkLoad(makeMap(MapType::F16, {40, 40}, {32, 16}), {16, 30});
  checkLoad(makeMap(MapType::U8, {32, 7, 9}, {16, 4, 5}), {-16, 5, -1});
  checkLoad(makeMap(MapType::F64, {4, 5, 3, 4}, {2, 3, 2, 3}), {2, -1, 1, 2});
  checkLoad(makeMap(MapType::BF16, {8, 3, 4, 3, 5}, {8, 2, 3, 2, 2}), {0, 2, -2, 1, 4});
}

TEST(TensorCopy, boxOutsideOfTheTensor) {
  checkLoad(makeMap(MapType::F32, {16, 16}, {16, 8}), {0, 100});
  checkLoad(makeMap(MapType::F32, {16, 16}, {16, 8}), {-16, 0});
  checkLoad(makeMap(MapType::F32, {16, 16}, {16, 8}), {2147483644, -2147483647 - 1});
}

TEST(TensorCopy, swizzles) {
  for (MapSwizzle swizzle : {MapSwizzle::Bytes32, MapSwizzle::Bytes64, MapSwizzle::Bytes128}) {
    TensorMap map = makeMap(MapType::F16, {96, 20}, {uint32_t(8) << int(swizzle), 20});
    map.swizzle = swizzle;
    checkLoad(map, {8, 2});
  }
}

TEST(TensorCopy, rowsShorterThanTheSwizzle) {
  for (uint32_t columns : {8u, 16u, 32u}) {
    TensorMap map = makeMap(MapType::F16, {96, 20}, {columns, 20});
    map.swizzle = MapSwizzle::Bytes128;
    checkLoad(map, {8, 2});
    map.swizzle = MapSwizzle::Bytes64;
    checkLoad(map, {88, 3});
  }
}

TEST(TensorCopy, strides) {
  TensorMap map = makeMap(MapType::U32, {12, 10, 6}, {8, 7, 6});
  map.elementStrides[0] = 2; // ignored: a map without interleaving has none there
  map.elementStrides[1] = 3;
  map.elementStrides[2] = 2;
  checkLoad(map, {4, -2, 1});
}

TEST(TensorCopy, nanOutside) {
  auto check = [](MapType type, uint64_t nan) {
    TensorMap map = makeMap(type, {32, 16}, {16, 4});
    map.fill = MapFill::Nan;
    checkLoad(map, {24, 14}, nan);
  };
  check(MapType::F16, 0x7fff);
  check(MapType::BF16, 0x7fff);
  check(MapType::F32, 0x7fffffff);
  check(MapType::F64, 0x7fffffffffffffff);
}

/// Copies buffer 2 to `data`, and the box at `data` to the tensor.
std::string storeKernel(const TensorMap &map, const std::vector<int32_t> &coordinates, const std::string &operation) {
  return copyIn + R"(
    fence.proxy.async.shared::cta;
    bar.sync 0;
    setp.ne.u32 %p0, %r0, 0;
    @%p0 bra done;
    cp.)" +
         operation + std::to_string(map.rank) + "d.global.shared::cta" + (operation.find("reduce") == 0 ? ".add" : "") +
         ".tile.bulk_group [%d1, " + coordinateList(map, coordinates) + R"(], [data];
    cp.async.bulk.commit_group;
    cp.async.bulk.wait_group 0;
  done:
  )";
}

/// Returns each element of the tensor after a store of `data`.
template <typename Combine>
void checkStore(const TensorMap &map, const std::vector<int32_t> &coordinates, const std::string &operation,
                Combine &&combine, std::vector<std::byte> tensor, std::vector<std::byte> data) {
  unsigned size = map.elementBytes();
  std::vector<std::byte> expected = tensor;
  for (uint32_t index = 0; index < boxBytes(map) / size; ++index) {
    uint32_t rest = index;
    int64_t to = 0;
    bool inside = true;
    for (unsigned dim = 0; dim < map.rank; ++dim) {
      int64_t at = coordinates[dim] + int64_t(rest % map.boxElements(dim)) * (dim ? map.elementStrides[dim] : 1);
      rest /= map.boxElements(dim);
      inside &= at >= 0 && at < int64_t(map.sizes[dim]);
      to += at * int64_t(dim ? map.strides[dim - 1] : size);
    }
    if (inside)
      combine(expected.data() + to, data.data() + placed(index * size, map.swizzle));
  }
  for (uint64_t seed = 0; seed < 3; ++seed) {
    SimulatedKernel kernel(storeKernel(map, coordinates, operation), 3);
    kernel.buffers[0] = tensor;
    kernel.buffers[2] = data;
    setMap(kernel, map);
    auto reports = kernel.run(seed);
    ASSERT_TRUE(reports.empty()) << kernel.text(reports);
    for (uint32_t i = 0; i < bufferBytes; ++i)
      ASSERT_EQ(kernel.buffers[0][i], expected[i]) << "byte " << i << ", seed " << seed;
  }
}

TEST(TensorCopy, stores) {
  std::vector<std::byte> tensor(bufferBytes), data(bufferBytes);
  fillRandomly(tensor, 2);
  fillRandomly(data, 3);
  auto take2 = [](std::byte *to, const std::byte *from) { std::memcpy(to, from, 2); };
  TensorMap map = makeMap(MapType::F16, {60, 25}, {64, 24});
  map.swizzle = MapSwizzle::Bytes128;
  checkStore(map, {-8, 5}, "async.bulk.tensor.", take2, tensor, data);
  TensorMap strided = makeMap(MapType::F16, {16, 9, 6}, {16, 6, 3});
  strided.elementStrides[1] = 2;
  checkStore(strided, {8, -3, 4}, "async.bulk.tensor.", take2, tensor, data);
}

TEST(TensorCopy, storesWriteWholePieces) {
  // Rows of 50 elements, 100 bytes, at a stride of 128: the other 6 elements of their last 16-byte unit are written,
  // too, but not the next ones.
  TensorMap map = makeMap(MapType::F16, {50, 4}, {64, 4});
  map.strides[0] = 128;
  SimulatedKernel kernel(storeKernel(map, {0, 0}, "async.bulk.tensor."), 3);
  fillRandomly(kernel.buffers[2], 5);
  setMap(kernel, map);
  auto reports = kernel.run(0);
  ASSERT_TRUE(reports.empty()) << kernel.text(reports);
  constexpr uint32_t written = 112;
  for (uint32_t i = 0; i < 4 * 128; ++i)
    ASSERT_EQ(kernel.buffers[0][i], i % 128 < written ? kernel.buffers[2][i] : std::byte(0)) << "byte " << i;
}

TEST(TensorCopy, reductions) {
  std::vector<std::byte> tensor(bufferBytes), data(bufferBytes);
  auto *oldFloats = reinterpret_cast<float *>(tensor.data()), *newFloats = reinterpret_cast<float *>(data.data());
  for (unsigned i = 0; i < bufferBytes / 4; ++i) {
    oldFloats[i] = std::sin(float(i));
    newFloats[i] = 0.25f * float(i % 17) - 1.0f;
  }
  auto addFloat = [](std::byte *to, const std::byte *from) {
    float old, value;
    std::memcpy(&old, to, 4);
    std::memcpy(&value, from, 4);
    old += value;
    std::memcpy(to, &old, 4);
  };
  checkStore(makeMap(MapType::F32, {20, 30}, {16, 20}), {8, 15}, "reduce.async.bulk.tensor.", addFloat, tensor, data);
  auto addInteger = [](std::byte *to, const std::byte *from) {
    uint32_t old, value;
    std::memcpy(&old, to, 4);
    std::memcpy(&value, from, 4);
    old += value;
    std::memcpy(to, &old, 4);
  };
  checkStore(makeMap(MapType::S32, {20, 30}, {16, 20}), {-4, 15}, "reduce.async.bulk.tensor.", addInteger, tensor,
             data);
}

TEST(TensorCopy, bytesThatAreNoMap) {
  TensorMap map = makeMap(MapType::F16, {40, 40}, {32, 16});
  SimulatedKernel kernel(loadKernel(map, {0, 0}, 0), 3);
  kernel.expectAlways(ReportKind::InvalidOperand, "rank 0"); // all zeros
  kernel.clearsBuffers = false;
  fillRandomly(kernel.buffers[1], 4);
  kernel.expectAlways(ReportKind::InvalidOperand, "not a tensor map");
}

TEST(TensorCopy, tensorBeyondItsBuffer) {
  TensorMap map = makeMap(MapType::F32, {64, 20}, {16, 4}); // 5120 bytes
  SimulatedKernel kernel(loadKernel(map, {48, 16}, 0), 3);
  setMap(kernel, map);
  kernel.expectAlways(ReportKind::OutOfBounds);
}

TEST(TensorCopy, misplacedBox) {
  TensorMap map = makeMap(MapType::F32, {32, 20}, {16, 4});
  SimulatedKernel kernel(loadKernel(map, {0, 0}, 64), 3);
  setMap(kernel, map);
  kernel.expectAlways(ReportKind::Misaligned);
}

TEST(TensorCopy, boxesWithinPiecesOfRows) {
  TensorMap map = makeMap(MapType::F32, {32, 20}, {16, 4});
  for (const std::string &text : {loadKernel(map, {3, 0}, 0), storeKernel(map, {3, 0}, "async.bulk.tensor.")}) {
    SimulatedKernel kernel(text, 3);
    setMap(kernel, map);
    kernel.expectAlways(ReportKind::InvalidOperand, "innermost coordinate 3 is at byte 12 of a row");
  }
}

TEST(TensorCopy, wrongRank) {
  TensorMap map = makeMap(MapType::F32, {32, 20}, {16, 4}), other = makeMap(MapType::F32, {32, 5, 4}, {16, 2, 2});
  SimulatedKernel kernel(loadKernel(map, {0, 0}, 0), 3);
  setMap(kernel, other);
  kernel.expectAlways(ReportKind::InvalidOperand, "2 coordinates for a tensor map of rank 3");
}

TEST(TensorMap, changedByTheKernel) {
  // The box loses its second half before thread 0 loads it.
  TensorMap map = makeMap(MapType::F32, {16, 40}, {16, 16}), smaller = map;
  smaller.box[1] = 8;
  auto load = [&](const std::string &change) {
    std::string kernel = loadKernel(smaller, {0, 4}, 0);
    return kernel.insert(kernel.find("    mbarrier.arrive.expect_tx"), change);
  };
  const std::string replace = "tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 1, 8;\n";
  SimulatedKernel fenced(load(replace + "fence.proxy.tensormap::generic.release.gpu;\n"
                                        "fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;\n"),
                         3);
  fillRandomly(fenced.buffers[0], 1);
  setMap(fenced, map);
  auto reports = fenced.run(0);
  ASSERT_TRUE(reports.empty()) << fenced.text(reports);
  EXPECT_EQ(fenced.buffers[2], expectedBox(smaller, {0, 4}, fenced.buffers[0], 0));
  SimulatedKernel missing(load(replace), 3);
  setMap(missing, map);
  missing.expectAlways(ReportKind::MissingFence, "no fence.proxy.tensormap");
  SimulatedKernel stale(load("fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;\n" + replace), 3);
  setMap(stale, map);
  reports = stale.run(0); // applied once: the map stays changed
  ASSERT_EQ(reports.size(), 1u);
  EXPECT_NE(reports[0].message.find("since its last change"), std::string::npos) << reports[0].message;
  const std::string release = "fence.proxy.tensormap::generic.release.gpu;\n",
                    acquire = "fence.proxy.tensormap::generic.acquire.gpu [%d1], 128;\n";
  for (const std::string &fences : {acquire, acquire + release}) {
    SimulatedKernel unreleased(load(replace + fences), 3);
    setMap(unreleased, map);
    unreleased.expectAlways(ReportKind::MissingFence, "no fence.proxy.tensormap::generic.release has been executed");
  }
  SimulatedKernel tooEarly(load(release + replace + acquire), 3);
  setMap(tooEarly, map);
  tooEarly.expectAlways(ReportKind::MissingFence, "no fence.proxy.tensormap::generic.release has been executed");
  SimulatedKernel invalid(load("tensormap.replace.tile.box_dim.global.b1024.b32 [%d1], 1, 300;\n"), 3);
  setMap(invalid, map);
  invalid.expectAlways(ReportKind::InvalidOperand, "300 is not valid");
}

TEST(TensorMap, rules) {
  auto broken = [](auto &&change) {
    TensorMap map = makeMap(MapType::F16, {64, 64, 8}, {64, 8, 2});
    EXPECT_TRUE(encodeTensorMap(map));
    change(map);
    auto bytes = encodeTensorMap(map);
    return bytes ? std::string("accepted") : bytes.error().message;
  };
  auto expect = [&](const std::string &words, auto &&change) {
    std::string message = broken(change);
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect("rank 0", [](TensorMap &map) { map.rank = 0; });
  expect("rank 6", [](TensorMap &map) { map.rank = 6; });
  expect("not a multiple of 16", [](TensorMap &map) { map.address += 8; });
  expect("size 1", [](TensorMap &map) { map.sizes[1] = 0; });
  expect("stride 0", [](TensorMap &map) { map.strides[0] += 2; });
  expect("stride 1", [](TensorMap &map) { map.strides[1] = uint64_t(1) << 40; });
  expect("box dimension 2", [](TensorMap &map) { map.box[2] = 257; });
  expect("element stride 1", [](TensorMap &map) { map.elementStrides[1] = 9; });
  expect("innermost box dimension", [](TensorMap &map) { map.box[0] = 4; });
  expect("more than the 64", [](TensorMap &map) { map.swizzle = MapSwizzle::Bytes64; });
  expect("interleaved", [](TensorMap &map) { map.interleave = 1; });
  expect("fill mode", [](TensorMap &map) {
    map.type = MapType::U16;
    map.fill = MapFill::Nan;
  });
  expect("shared memory", [](TensorMap &map) { map.box[1] = map.box[2] = 256; });
}

TEST(TensorMap, encodesAllFields) {
  TensorMap map = makeMap(MapType::BF16, {64, 6, 5, 4, 3}, {16, 2, 3, 4, 1});
  map.elementStrides[3] = 4;
  map.swizzle = MapSwizzle::Bytes32;
  map.promotion = 2;
  map.fill = MapFill::Nan;
  auto bytes = encodeTensorMap(map);
  ASSERT_TRUE(bytes);
  auto decoded = decodeTensorMap(bytes->data());
  ASSERT_TRUE(decoded);
  EXPECT_EQ(decoded->address, map.address);
  EXPECT_EQ(decoded->rank, map.rank);
  for (unsigned dim = 0; dim < map.rank; ++dim) {
    EXPECT_EQ(decoded->sizes[dim], map.sizes[dim]);
    EXPECT_EQ(decoded->box[dim], map.box[dim]);
    EXPECT_EQ(decoded->elementStrides[dim], map.elementStrides[dim]);
  }
  EXPECT_TRUE(std::equal(map.strides, map.strides + 4, decoded->strides));
  EXPECT_EQ(decoded->type, map.type);
  EXPECT_EQ(decoded->swizzle, map.swizzle);
  EXPECT_EQ(decoded->promotion, map.promotion);
  EXPECT_EQ(decoded->fill, map.fill);
}

} // namespace
