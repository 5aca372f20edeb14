// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Reads and writes .npy files, and rejects malformed ones.
#include "Runner/Inputs/Npy.h"

#include "TestBuffers.h"

#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace tile::runner;
using tile::runtime::DataType;
using tile::test::makeBuffer;
using tile::test::valuesOf;

namespace {

class NpyTest : public testing::Test {
protected:
  void SetUp() override {
    folder = std::filesystem::temp_directory_path() / fmt::format("tile-npy-test-{}", getpid());
    std::filesystem::create_directories(folder);
  }
  void TearDown() override { std::filesystem::remove_all(folder); }
  std::string path(const std::string &name) const { return (folder / name).string(); }
  void write(const std::string &name, const std::string &contents) const {
    std::ofstream(path(name), std::ios::binary) << contents;
  }
  std::filesystem::path folder;
};

TEST_F(NpyTest, everyTypeSurvivesTheRoundTrip) {
  for (DataType type : {DataType::I1, DataType::I8, DataType::I16, DataType::I32, DataType::I64, DataType::U8,
                        DataType::U16, DataType::U32, DataType::U64, DataType::F16, DataType::BF16, DataType::F32,
                        DataType::F64, DataType::F8E4M3, DataType::F8E5M2}) {
    const HostBuffer buffer = makeBuffer({2, 3}, {1, 0, 1, 1, 0, 1}, type, {1, 4});
    ASSERT_TRUE(bool(saveBufferFile(buffer, path("x.npy"))));
    HostBuffer other = makeBuffer({2, 3}, {0, 0, 0, 0, 0, 0}, type);
    Status status = loadBufferFile(other, path("x.npy"));
    ASSERT_TRUE(bool(status)) << status.error().message;
    EXPECT_EQ(valuesOf(other), valuesOf(buffer));
  }
}

TEST_F(NpyTest, headerIsWhatNumPyWrites) {
  const std::string bytes = formatNpy(DataType::F16, {3}, {1, 2, 3, 4, 5, 6});
  EXPECT_EQ(bytes.substr(0, 8), std::string("\x93NUMPY\x01\x00", 8));
  EXPECT_NE(bytes.find("{'descr': '<f2', 'fortran_order': False, 'shape': (3,), }"), std::string::npos);
  EXPECT_EQ((bytes.size() - 6) % 64, 0u);
  EXPECT_EQ(bytes[bytes.size() - 7], '\n');
  EXPECT_EQ(parseNpy(formatNpy(DataType::F32, {}, {0, 0, 0, 0}))->shape.size(), 0u);
}

TEST_F(NpyTest, fortranOrderIsTransposed) {
  std::string bytes = formatNpy(DataType::I8, {2, 3}, {1, 4, 2, 5, 3, 6}); // columns one after another
  bytes.replace(bytes.find("False"), 5, "True ");
  Result<NpyArray> array = parseNpy(bytes);
  ASSERT_TRUE(bool(array)) << array.error().message;
  EXPECT_EQ(array->data, std::string("\1\2\3\4\5\6"));
}

TEST_F(NpyTest, rawFilesAreRowMajorElements) {
  write("x.raw", std::string("\1\2\3\4"));
  HostBuffer buffer = makeBuffer({2, 2}, {0, 0, 0, 0}, DataType::I8, {1, 2});
  ASSERT_TRUE(bool(loadBufferFile(buffer, path("x.raw"))));
  EXPECT_EQ(valuesOf(buffer), (std::vector<double>{1, 2, 3, 4}));
  ASSERT_TRUE(bool(saveBufferFile(buffer, path("y.raw"))));
  EXPECT_EQ(std::filesystem::file_size(path("y.raw")), 4u);
}

// As frameworks export them: bf16 as float32, indices as int64, [rows, 1, columns] for [rows, columns].
TEST_F(NpyTest, convertsWhatOtherProgramsWrite) {
  ASSERT_TRUE(bool(saveBufferFile(makeBuffer({2, 1, 3}, {1.00390625, 2, 3, 4, 5, -6}, DataType::F32), path("x.npy"))));
  HostBuffer rounded = makeBuffer({2, 3}, {0, 0, 0, 0, 0, 0}, DataType::BF16, {4, 1});
  Status status = loadBufferFile(rounded, path("x.npy"));
  ASSERT_TRUE(bool(status)) << status.error().message;
  // 1.00390625 is a tie, which is rounded to even.
  EXPECT_EQ(valuesOf(rounded), (std::vector<double>{1, 2, 3, 4, 5, -6}));
  ASSERT_TRUE(bool(saveBufferFile(makeBuffer({4}, {0, 65535, 7, 8}, DataType::I64), path("i.npy"))));
  HostBuffer integers = makeBuffer({2, 2}, {0, 0, 0, 0}, DataType::U16);
  status = loadBufferFile(integers, path("i.npy"));
  ASSERT_TRUE(bool(status)) << status.error().message;
  EXPECT_EQ(valuesOf(integers), (std::vector<double>{0, 65535, 7, 8}));
}

TEST_F(NpyTest, negative_mismatches) {
  const HostBuffer source = makeBuffer({2, 3}, {1, 2, 3, 4, 5, 6}, DataType::F32);
  ASSERT_TRUE(bool(saveBufferFile(source, path("x.npy"))));
  HostBuffer shape = makeBuffer({3, 2}, {1, 2, 3, 4, 5, 6}, DataType::F32);
  EXPECT_NE(loadBufferFile(shape, path("x.npy")).error().message.find("has shape [2, 3]; expected [3, 2]"),
            std::string::npos);
  HostBuffer integers = makeBuffer({2, 3}, {1, 2, 3, 4, 5, 6}, DataType::I32);
  EXPECT_NE(
      loadBufferFile(integers, path("x.npy")).error().message.find("cannot convert element type '<f4' to i32 ('<i4')"),
      std::string::npos);
  const HostBuffer large = makeBuffer({2}, {1, -40000}, DataType::I32);
  ASSERT_TRUE(bool(saveBufferFile(large, path("large.npy"))));
  HostBuffer small = makeBuffer({2}, {0, 0}, DataType::I16);
  EXPECT_NE(loadBufferFile(small, path("large.npy")).error().message.find("element 1 is -40000, which i16 cannot hold"),
            std::string::npos);
  HostBuffer count = makeBuffer({5}, {0, 0, 0, 0, 0}, DataType::F32);
  EXPECT_NE(loadBufferFile(count, path("x.npy")).error().message.find("has shape [2, 3]; expected [5]"),
            std::string::npos);
  HostBuffer type = makeBuffer({2, 3}, {1, 2, 3, 4, 5, 6}, DataType::F16);
  write("x.raw", "123");
  EXPECT_NE(loadBufferFile(type, path("x.raw")).error().message.find("has 3 bytes; [2, 3] elements of f16 need 12"),
            std::string::npos);
  EXPECT_NE(loadBufferFile(type, path("none.npy")).error().message.find("No such file"), std::string::npos);
  EXPECT_NE(saveBufferFile(source, path("no/such/folder.npy")).error().message.find("cannot write"), std::string::npos);
}

TEST_F(NpyTest, damagedFilesAreSurvived) {
  const std::string bytes = formatNpy(DataType::F32, {2, 3}, std::vector<uint8_t>(24));
  for (size_t size = 0; size < bytes.size(); ++size)
    EXPECT_FALSE(bool(parseNpy(bytes.substr(0, size)))) << size;
  for (size_t i = 0; i < bytes.size(); ++i)
    for (char value : {'\0', '\xff', '9', '(', ')', '\'', ',', '-'}) {
      std::string damaged = bytes;
      damaged[i] = value;
      (void)parseNpy(damaged);
    }
  std::string huge = bytes;
  huge.replace(huge.find("(2, 3)"), 6, "(99999999999999999999,)");
  EXPECT_FALSE(bool(parseNpy(huge)));
}

} // namespace
