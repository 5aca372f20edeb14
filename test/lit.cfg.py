# lit configuration: which files are tests, where the tools are, what the machine has.
import ctypes.util
import glob
import os
import sys

import lit.formats

config.name = "tile"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".tile", ".test"]
config.excludes = ["Inputs", "unit", "fuzz", "node_modules"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.build_dir, "test")

# The tools are called by name: tilec, tile-opt, tile-run, FileCheck, not, count, split-file.
search = [os.path.join(config.build_dir, "bin"), config.llvm_tools_dir, os.environ.get("PATH", "")]
config.environment["PATH"] = os.pathsep.join(search)
for name in ("CUDA_HOME", "CUDA_PATH", "LD_LIBRARY_PATH", "TILE_BLESS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]
# Most processes are short, and a fifth of their time went into page faults: glibc asks for large pages.
config.environment["GLIBC_TUNABLES"] = "glibc.malloc.hugetlb=1"

config.substitutions.append(("%source_dir", config.source_dir))
config.substitutions.append(("%build_dir", config.build_dir))
config.substitutions.append(("%examples", os.path.join(config.source_dir, "examples")))
# %golden ACTUAL EXPECTED compares, or rewrites EXPECTED when blessing.
config.substitutions.append(("%golden", "sh " + os.path.join(config.source_dir, "tools", "dev", "golden.sh")))

# %python runs the programs of test/Reference, and writes no compiled files.
config.substitutions.append(("%python", sys.executable + " -B"))

# %tilec-run WORDS: `tilec run WORDS` on the simulator, and on the GPU if there is one; with --param disable=PASS, which
# tools/dev/skip-matrix.sh gives, without that pass.
devices = "sim"
if os.path.exists("/dev/nvidiactl"):
    config.available_features.add("cuda")
    devices = "sim,cuda"
without = ""
if "disable" in lit_config.params:
    without = " --disable=" + lit_config.params["disable"]
    # For UNSUPPORTED of tests whose blocks do not fit into shared memory without that pass.
    config.available_features.add("without-" + lit_config.params["disable"])
# With --param target=sm_100a, the simulator runs the code for that GPU.
config.environment["TILE_SIM_TARGET"] = lit_config.params.get("target", "sm_90a")
config.substitutions.append(
    ("%tilec-run", "sh " + os.path.join(config.source_dir, "test", "run-devices.sh") + " " + devices + without)
)
if ctypes.util.find_library("z3"):
    config.available_features.add("z3")
if lit.util.which("node", config.environment["PATH"]):
    config.available_features.add("node")
if lit.util.which("pandoc", config.environment["PATH"]):
    config.available_features.add("pandoc")
if lit.util.which("script", config.environment["PATH"]):  # a terminal; of util-linux
    config.available_features.add("script")
if lit.util.which("git", config.environment["PATH"]) and lit.util.which("clang-format-22", config.environment["PATH"]):
    config.available_features.add("git-format")
if lit.util.which("pkg-config", config.environment["PATH"]):
    config.available_features.add("pkg-config")
if lit.util.which("chromium", config.environment["PATH"]):
    config.available_features.add("chromium")
# Headers of libraries for which there are examples, where Debian and vendors install them.
for feature, header in {
    "dlpack": "/usr/include/dlpack/dlpack.h",
    "torch": "/usr/include/torch/library.h",
    "onnxruntime": "/usr/include/onnxruntime/onnxruntime_cxx_api.h",
    "cublas": "/usr/local/cuda/include/cublas_v2.h",
}.items():
    if os.path.exists(header):
        config.available_features.add(feature)
if lit.util.which("nvim", config.environment["PATH"]):
    config.available_features.add("nvim")
# Debian's elpa-eglot; later versions of Emacs include it.
if lit.util.which("emacs", config.environment["PATH"]) and glob.glob("/usr/share/emacs/site-lisp/elpa/eglot-*"):
    config.available_features.add("eglot")
if os.path.isdir(os.path.join(config.test_source_root, "Editor", "node_modules", "monaco-editor")):
    config.available_features.add("monaco")
toolkits = [os.environ.get("CUDA_HOME", ""), os.environ.get("CUDA_PATH", ""), "/usr/local/cuda"]
if lit.util.which("ptxas", config.environment["PATH"]) or any(
    os.access(os.path.join(toolkit, "bin", "ptxas"), os.X_OK) for toolkit in toolkits
):
    config.available_features.add("ptxas")
if any(os.path.exists(os.path.join(toolkit, "nvvm/libdevice/libdevice.10.bc")) for toolkit in toolkits):
    config.available_features.add("libdevice")
