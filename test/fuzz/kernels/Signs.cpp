// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Integers that wrap, or whose sign is easily misjudged, in comparisons that an analysis of ranges might fold.
#include "KernelBuilder.h"

namespace tile::fuzz {

void KernelBuilder::signStatement() {
  if (inHelper || programs > 64)
    return;
  const Scalar type = random.pick({Scalar::Int32, Scalar::Int32, Scalar::Int64});
  const int64_t block = random.pick({32, 64, 128}), bits = bitsOf(type);
  const std::string width = std::to_string(block), indices = "tl.arange(0, " + width + ")";
  const std::string place = programNumber + " * " + width + " + " + indices;
  const std::string name = freshName("n"), cast = ".to(" + languageName(type) + ")";
  // Values that are known to be non-negative, and others.
  switch (random.below(3)) {
  case 0:
    line(name + " = (" + indices + " + " + programNumber + ")" + cast);
    break;
  case 1: {
    const std::string input = freshName("bits");
    pointers.push_back(input + ": \"" + pointerName(random.pick({Scalar::UInt8, Scalar::Int8, Scalar::UInt16})) + "\"");
    directives += "#: buffer " + input + "[" + std::to_string(block * programs) + "] = random\n";
    line(name + " = tl.load(" + input + " + " + place + ")" + cast);
    break;
  }
  default:
    line(name + " = tl.full((" + width + ",), " + addInteger(freshName("s"), random.between(-3, 70000)) + ", " +
         languageName(type) + ")");
  }
  const int64_t steps = random.between(1, 3);
  for (int64_t step = 0; step < steps; ++step) {
    const std::string factor = std::to_string(random.pick<int64_t>({3, 255, 65536, 1 << 24, 0x7fffffff}));
    const std::string divisor = std::to_string(random.pick<int64_t>({-7, -2, 2, 3, 16}));
    line(name + " = (" + name +
         random.pick<std::string>({" << " + std::to_string(random.below(bits)),
                                   " >> " + std::to_string(random.below(bits)), " * " + factor, " + " + factor,
                                   " - " + factor, " // (" + divisor + ")", " % (" + divisor + ")", " * " + name,
                                   " & 0x7fffff00", " ^ -1"}) +
         ")" + cast);
  }
  const std::string result = freshName("sign");
  line(result + " = tl.where(" + name + random.pick<std::string>({" >= 0", " < 0", " > -1", " <= 0"}) +
       ", 1, 2) + tl.where(" + name + random.pick<std::string>({" < 4096", " >= 65536", " == 0", " > 2147483646"}) +
       ", 4, 8)");
  const std::string output = freshName("out");
  pointers.push_back(output + ": \"*i32\"");
  directives += "#: buffer " + output + "[" + std::to_string(block * programs) + "] = zeros\n";
  line("tl.store(" + output + " + " + place + ", " + result + ")");
}

} // namespace tile::fuzz
