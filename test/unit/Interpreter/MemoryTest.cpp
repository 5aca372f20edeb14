// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Tests pointers, loads, stores and descriptors: the elements that they read and write, and every message about an
// invalid access.
#include "Harness.h"

namespace tile::interp::test {
namespace {

using Numbers = std::vector<double>;

const std::vector<std::string> kTypes = {"i1",     "i8",  "i16",  "i32", "i64", "f8E4M3FN",
                                         "f8E5M2", "f16", "bf16", "f32", "f64"};

TEST(Memory, CopiesEveryType) {
  for (const std::string &type : kTypes) {
    Numbers values = type == "i1" ? Numbers{1, 0, 0, 1} : Numbers{1, -2, 0, 3};
    EXPECT_EQ(evaluate({type}, {values}, type,
                       "%zero = arith.constant 0 : i32\n%r = tile.reshape %a : tensor<Nx" + type + "> -> tensor<Nx" +
                           type + ">"),
              values)
        << type;
  }
}

TEST(Memory, AnyByteButZeroIsTrue) {
  std::vector<uint8_t> a{0, 1, 2, 255}, r(4, 9);
  Launch(elementwise({"i1"}, "i1", 4, "%r = tile.reshape %a : tensor<4xi1> -> tensor<4xi1>"))
      .buffer(a, "a")
      .buffer(r, "r")
      .run();
  EXPECT_EQ(r, (std::vector<uint8_t>{0, 1, 1, 1}));
}

TEST(Memory, MaskedElementsAreOtherOrZero) {
  for (const std::string &type : kTypes) {
    std::string pointers = "tensor<Nx!tile.ptr<" + type + ">>";
    std::string constant = type[0] == 'i' ? type == "i1" ? "dense<true>" : "dense<1>" : "dense<1.0>";
    std::string mask = "%c1 = arith.constant dense<1> : tensor<Nxi32>\n"
                       "%m = arith.cmpi slt, %index, %c1 : tensor<Nxi32>\n";
    EXPECT_EQ(evaluate({type}, {{1, 1}}, type, mask + "%r = tile.load %a_at mask %m : " + pointers), (Numbers{1, 0}))
        << type;
    EXPECT_EQ(evaluate({type}, {{0, 0}}, type,
                       mask + "%o = arith.constant " + constant + " : tensor<Nx" + type +
                           ">\n%r = tile.load %a_at mask %m other %o : " + pointers),
              (Numbers{0, 1}))
        << type;
  }
}

TEST(Memory, ScalarAccess) {
  std::vector<double> a{1.5, 2.5}, r(1);
  std::string text = kernel("%a: !tile.ptr<f64>, %r: !tile.ptr<f64>, %m: i1", R"(
    %one = arith.constant 1 : i64
    %p = tile.addptr %a, %one : !tile.ptr<f64>, i64
    %other = arith.constant -1.0 : f64
    %x = tile.load %p mask %m other %other : !tile.ptr<f64>
    tile.store %r, %x : !tile.ptr<f64>)");
  Launch(text).buffer(a, "a").buffer(r, "r").integer(1).run();
  EXPECT_EQ(r[0], 2.5);
  Launch(text).buffer(a, "a").buffer(r, "r").integer(0).run();
  EXPECT_EQ(r[0], -1);
}

TEST(Memory, OffsetsOfEveryWidthAreSigned) {
  for (const std::string &type : {"i1", "i8", "i16", "i32", "i64"}) {
    std::vector<int32_t> a{10, 11, 12}, r(1);
    Launch launch(kernel("%a: !tile.ptr<i32>, %r: !tile.ptr<i32>, %o: " + type,
                         "%p = tile.addptr %a, %o : !tile.ptr<i32>, " + type +
                             "\n%x = tile.load %p : !tile.ptr<i32>\ntile.store %r, %x : !tile.ptr<i32>"));
    launch.buffer(a, "a").buffer(r, "r").integer(-1);
    launch.arguments[0].offset = 8;
    launch.run();
    EXPECT_EQ(r[0], 11) << type;
  }
}

const char *const kGather = R"(
tile.kernel @gather(%a: !tile.ptr<f16>, %b: !tile.ptr<f32>, %o: i32) {
  %pid = tile.program_id 1
  %index = tile.arange 0 to 4 : tensor<4xi32>
  %row = tile.expand_dims %index {axis = 0 : i32} : tensor<4xi32> -> tensor<1x4xi32>
  %offsets = tile.broadcast %row : tensor<1x4xi32> -> tensor<2x4xi32>
  %os = tile.splat %o : i32 -> tensor<2x4xi32>
  %sum = arith.addi %offsets, %os : tensor<2x4xi32>
  %as = tile.splat %a : !tile.ptr<f16> -> tensor<2x4x!tile.ptr<f16>>
  %ap = tile.addptr %as, %sum : tensor<2x4x!tile.ptr<f16>>, tensor<2x4xi32>
  %x = tile.load %ap : tensor<2x4x!tile.ptr<f16>>
  %y = arith.extf %x : tensor<2x4xf16> to tensor<2x4xf32>
  %bs = tile.splat %b : !tile.ptr<f32> -> tensor<2x4x!tile.ptr<f32>>
  %bp = tile.addptr %bs, %offsets : tensor<2x4x!tile.ptr<f32>>, tensor<2x4xi32>
  tile.store %bp, %y : tensor<2x4x!tile.ptr<f32>>
  tile.return
})";

TEST(Memory, LoadBeyondTheEndSaysWhereAndWhat) {
  std::vector<uint16_t> a(6);
  std::vector<float> b(4);
  EXPECT_EQ(Launch(kGather).buffer(a, "a").buffer(b, "b").integer(3).message({1, 2, 1}),
            "kernel.tile:11:8: error: load reads element 6 of buffer 'a', which has 6 elements of f16 (12 bytes); "
            "in program (0, 0, 0), element [0, 3]");
}

TEST(Memory, LoadBeforeTheStart) {
  std::vector<uint16_t> a(6);
  std::vector<float> b(4);
  EXPECT_EQ(Launch(kGather).buffer(a, "a").buffer(b, "b").integer(-1).message(),
            "kernel.tile:11:8: error: load reads element -1 of buffer 'a', which has 6 elements of f16 (12 bytes); "
            "in program (0, 0, 0), element [0, 0]");
}

TEST(Memory, StoreBeyondTheEnd) {
  std::vector<uint16_t> a(6);
  std::vector<float> b(2);
  EXPECT_EQ(Launch(kGather).buffer(a, "a").buffer(b, "out").integer(0).message(),
            "kernel.tile:15:3: error: store writes element 2 of buffer 'out', which has 2 elements of f32 (8 bytes); "
            "in program (0, 0, 0), element [0, 2]");
}

TEST(Memory, ElementAcrossTheEnd) {
  std::vector<uint8_t> a(7);
  std::vector<float> b(4);
  Launch launch(kGather);
  launch.buffer(a, "a").buffer(b, "b").integer(0);
  EXPECT_EQ(launch.message(),
            "kernel.tile:11:8: error: load reads element 3 of buffer 'a', which has 3 elements of f16 (7 bytes); "
            "in program (0, 0, 0), element [0, 3]");
  launch.arguments[0].offset = 3;
  EXPECT_EQ(launch.message(),
            "kernel.tile:11:8: error: load reads byte 7 of buffer 'a', which has 3 elements of f16 (7 bytes); "
            "in program (0, 0, 0), element [0, 2]");
}

TEST(Memory, PointerOfOneBufferMayNotReachAnother) {
  // Two buffers in one allocation: the address just after the first is inside the second.
  std::vector<uint16_t> memory(8);
  std::vector<float> b(4);
  Launch launch(kGather);
  launch.buffer(memory, "first").buffer(b, "b").integer(4);
  launch.buffers[0].bytes = 8;
  launch.buffers.push_back({memory.data() + 4, 8, "second"});
  EXPECT_EQ(launch.message(),
            "kernel.tile:11:8: error: load reads element 4 of buffer 'first', which has 4 elements of f16 (8 bytes); "
            "in program (0, 0, 0), element [0, 0]");
}

TEST(Memory, HugeOffsetsDoNotWrapIntoTheBuffer) {
  std::vector<int32_t> a(4), r(1);
  Launch launch(kernel("%a: !tile.ptr<i32>, %o: i64", "%p = tile.addptr %a, %o : !tile.ptr<i32>, i64\n"
                                                      "%x = tile.load %p : !tile.ptr<i32>"));
  launch.buffer(a, "a").integer(int64_t(1) << 61);
  EXPECT_NE(launch.message(), "no error");
}

TEST(Memory, NothingFitsIntoAnEmptyBuffer) {
  std::vector<int32_t> a;
  EXPECT_EQ(Launch(kernel("%a: !tile.ptr<i32>", "%x = tile.load %a : !tile.ptr<i32>")).buffer(a, "a").message(),
            "kernel.tile:2:6: error: load reads element 0 of buffer 'a', which has 0 elements of i32 (0 bytes); "
            "in program (0, 0, 0)");
}

TEST(Memory, MaskedElementsAreNotChecked) {
  std::vector<uint16_t> a(1);
  std::vector<uint16_t> r(4, 7);
  Launch(elementwise({}, "f16", 4, R"(
    %c1 = arith.constant dense<1> : tensor<4xi32>
    %m = arith.cmpi slt, %index, %c1 : tensor<4xi32>
    %r = tile.load %r_at mask %m : tensor<4x!tile.ptr<f16>>
    tile.store %r_at, %r mask %m : tensor<4x!tile.ptr<f16>>
    %unused = arith.constant 0 : i32)"))
      .buffer(r, "r")
      .run();
  EXPECT_EQ(r, (std::vector<uint16_t>{7, 0, 0, 0}));
}

std::string descriptorKernel(const std::string &body, const std::string &type = "f16") {
  return "tile.kernel @k(%a: !tile.ptr<" + type + ">, %r: !tile.ptr<" + type +
         ">, %m: i32, %n: i32, %ld: i64, %one: i64, %i: i32, %j: i32) {\n"
         "  %d = tile.make_desc %a, [%m, %n], [%ld, %one] : !tile.ptr<" +
         type + "> -> !tile.desc<2x8x" + type +
         ">\n"
         "  %e = tile.make_desc %r, [%m, %n], [%ld, %one] : !tile.ptr<" +
         type + "> -> !tile.desc<2x8x" + type + ">\n" + body + "\n  tile.return\n}\n";
}

const char *const kCopyBlock = R"(
  %x = tile.desc_load %d[%i, %j] : !tile.desc<2x8xf16> -> tensor<2x8xf16>
  tile.desc_store %e[%i, %j], %x : !tile.desc<2x8xf16>, tensor<2x8xf16>)";

struct DescriptorLaunch {
  std::vector<uint16_t> a = std::vector<uint16_t>(30), r = std::vector<uint16_t>(30, 99);
  DescriptorLaunch() {
    for (size_t i = 0; i < a.size(); ++i)
      a[i] = uint16_t(i + 1);
  }
  Launch &fill(Launch &launch, int m, int n, int ld, int i, int j, int one = 1) {
    return launch.buffer(a, "a").buffer(r, "r").integer(m).integer(n).integer(ld).integer(one).integer(i).integer(j);
  }
};

TEST(Memory, DescriptorCopiesOneBlock) {
  DescriptorLaunch data;
  Launch launch(descriptorKernel(kCopyBlock));
  data.fill(launch, 3, 10, 10, 1, 2).run();
  for (int row = 0; row < 3; ++row)
    for (int column = 0; column < 10; ++column)
      EXPECT_EQ(data.r[row * 10 + column], row >= 1 && column >= 2 ? data.a[row * 10 + column] : 99);
}

TEST(Memory, DescriptorDropsWritesOutside) {
  DescriptorLaunch data;
  Launch launch(descriptorKernel(kCopyBlock));
  data.fill(launch, 2, 9, 10, -1, 5).run(); // rows -1 and 0, columns 5 to 12
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(data.r[i], i >= 5 && i < 9 ? data.a[i] : 99) << i;
}

TEST(Memory, DescriptorReadsZerosOutside) {
  DescriptorLaunch data;
  Launch launch(descriptorKernel(R"(
  %x = tile.desc_load %d[%i, %j] : !tile.desc<2x8xf16> -> tensor<2x8xf16>
  %zero = arith.constant 0 : i32
  tile.desc_store %e[%zero, %zero], %x : !tile.desc<2x8xf16>, tensor<2x8xf16>)"));
  data.fill(launch, 2, 9, 10, 1, 5).run(); // rows 1 and 2 of 2, columns 5 to 12 of 9
  const std::vector<uint16_t> first{16, 17, 18, 19, 0, 0, 0, 0}, second(8);
  EXPECT_EQ(std::vector<uint16_t>(data.r.begin(), data.r.begin() + 8), first);
  EXPECT_EQ(std::vector<uint16_t>(data.r.begin() + 10, data.r.begin() + 18), second);
}

TEST(Memory, DescriptorCombinesWithWhatIsThere) {
  std::vector<float> a(30, 0), r(30, 1);
  Launch launch(descriptorKernel("  %x = arith.constant dense<2.5> : tensor<2x8xf32>\n"
                                 "  tile.desc_store %e[%i, %j], %x reduce add : !tile.desc<2x8xf32>, tensor<2x8xf32>",
                                 "f32"));
  launch.buffer(a, "a").buffer(r, "r").integer(2).integer(9).integer(10).integer(1).integer(-1).integer(5).run();
  for (int i = 0; i < 30; ++i)
    EXPECT_EQ(r[size_t(i)], i >= 5 && i < 9 ? 3.5f : 1.0f) << i;
}

TEST(Memory, DescriptorLargerThanItsBuffer) {
  DescriptorLaunch data;
  Launch launch(descriptorKernel(kCopyBlock));
  EXPECT_EQ(data.fill(launch, 4, 10, 10, 2, 0).message(),
            "kernel.tile:5:8: error: descriptor load reads element 30 of buffer 'a', which has 30 elements of f16 "
            "(60 bytes); in program (0, 0, 0), element [1, 0]");
  Launch store(descriptorKernel("%x = arith.constant dense<1.0> : tensor<2x8xf16>\n"
                                "tile.desc_store %e[%i, %j], %x : !tile.desc<2x8xf16>, tensor<2x8xf16>"));
  EXPECT_EQ(data.fill(store, 4, 10, 10, 2, 0).message(),
            "kernel.tile:5:1: error: descriptor store writes element 30 of buffer 'r', which has 30 elements of f16 "
            "(60 bytes); in program (0, 0, 0), element [1, 0]");
}

TEST(Memory, DescriptorWithWrongParameters) {
  DescriptorLaunch data;
  Launch stride(descriptorKernel(kCopyBlock));
  EXPECT_EQ(data.fill(stride, 3, 10, 10, 0, 0, 2).message(),
            "kernel.tile:2:8: error: descriptor has last stride 2; it must be 1; in program (0, 0, 0)");
  Launch size(descriptorKernel(kCopyBlock));
  EXPECT_EQ(data.fill(size, -3, 10, 10, 0, 0).message(),
            "kernel.tile:2:8: error: descriptor has size -3 in dimension 0; it must not be negative; "
            "in program (0, 0, 0)");
}

TEST(Memory, DescriptorOfEveryType) {
  for (const std::string &type : {"i8", "i16", "i32", "i64", "f8E4M3FN", "f8E5M2", "f16", "bf16", "f32", "f64"}) {
    Numbers values;
    for (int i = 0; i < 64; ++i)
      values.push_back(i % 7 - 3);
    std::vector<char> a = toMemory(type, values), r(a.size());
    std::string block = "!tile.desc<4x16x" + type + ">", tensor = "tensor<4x16x" + type + ">";
    std::string desc = " = tile.make_desc ", rest = ", [%four, %sixteen], [%ld, %one] : !tile.ptr<" + type + "> -> ";
    Launch(kernel("%a: !tile.ptr<" + type + ">, %r: !tile.ptr<" + type + ">",
                  "%four = arith.constant 4 : i32\n%sixteen = arith.constant 16 : i32\n%zero = arith.constant 0 : i32\n"
                  "%ld = arith.constant 16 : i64\n%one = arith.constant 1 : i64\n%d" +
                      desc + "%a" + rest + block + "\n%e" + desc + "%r" + rest + block +
                      "\n%x = tile.desc_load %d[%zero, %zero] : " + block + " -> " + tensor +
                      "\ntile.desc_store %e[%zero, %zero], %x : " + block + ", " + tensor))
        .buffer(a, "a")
        .buffer(r, "r")
        .run();
    EXPECT_EQ(fromMemory(type, r), values) << type;
  }
}

TEST(Memory, DescriptorAsAKernelArgument) {
  std::vector<float> a{1, 2, 3, 4, 5, 6}, r(4);
  Launch launch(kernel("%d: !tile.desc<4xf32>, %r: !tile.ptr<f32>", R"(
    %two = arith.constant 2 : i32
    %index = tile.arange 0 to 4 : tensor<4xi32>
    %x = tile.desc_load %d[%two] : !tile.desc<4xf32> -> tensor<4xf32>
    %rs = tile.splat %r : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
    %rp = tile.addptr %rs, %index : tensor<4x!tile.ptr<f32>>, tensor<4xi32>
    tile.store %rp, %x : tensor<4x!tile.ptr<f32>>)"));
  launch.buffer(a, "a").buffer(r, "r");
  EXPECT_EQ(launch.message(), "kernel.tile:1:1: error: argument number 0 has 0 sizes and 0 strides but the descriptor "
                              "has rank 1");
  launch.arguments[0].shape = {5};
  launch.arguments[0].strides = {1};
  launch.run();
  EXPECT_EQ(r, (std::vector<float>{3, 4, 5, 0}));
}

TEST(Memory, BlocksOfAnySizeButNotPadded) {
  auto copy = [](const std::string &tensor) {
    return kernel("%d: !tile.desc<3xf32>, %e: !tile.desc<3xf32>",
                  "%one = arith.constant 1 : i32"
                  "\n%x = tile.desc_load %d[%one] : !tile.desc<3xf32> -> " +
                      tensor + "\ntile.desc_store %e[%one], %x : !tile.desc<3xf32>, " + tensor);
  };
  std::vector<float> a{1, 2, 3, 4, 5, 6}, r(6);
  for (const char *tensor : {"tensor<3xf32>", "tensor<4xf32>"}) {
    Launch launch(copy(tensor));
    launch.buffer(a, "a").buffer(r, "r");
    for (Argument &argument : launch.arguments) {
      argument.shape = {6};
      argument.strides = {1};
    }
    bool isPadded = launch.module && std::string(tensor) == "tensor<4xf32>";
    EXPECT_EQ(launch.message(), isPadded ? "kernel.tile:3:6: error: the interpreter does not support padded blocks; it "
                                           "runs programs before tile-pad-blocks"
                                         : "no error");
  }
  EXPECT_EQ(r, (std::vector<float>{0, 2, 3, 4, 0, 0}));
}

} // namespace
} // namespace tile::interp::test
