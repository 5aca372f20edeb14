// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of tilec, with clang's conventions. `tilec run` accepts the same options and passes the remaining ones to the
// runner.
include "llvm/Option/OptParser.td"

/// `--name=VALUE` and `--name VALUE`.
multiclass Value<string name, string help, string metavar> {
  def "" : Joined<["--"], name#"=">, HelpText<help>, MetaVarName<metavar>;
  def _separate : Separate<["--"], name>, Alias<!cast<Joined>(NAME)>;
}

def grp_output : OptionGroup<"output">, HelpText<"Output">;
def grp_kernel : OptionGroup<"kernel">, HelpText<"Kernel">;
def grp_passes : OptionGroup<"passes">, HelpText<"Passes">;
def grp_tools : OptionGroup<"tools">, HelpText<"Tools">;
def grp_variants : OptionGroup<"variants">, HelpText<"Variants">;
def grp_diagnostics : OptionGroup<"diagnostics">, HelpText<"Diagnostics">;
def grp_general : OptionGroup<"general">, HelpText<"General">;

let Group = grp_output in {
def o : JoinedOrSeparate<["-"], "o">, HelpText<"Write the result to <file>; '-' is standard output">,
        MetaVarName<"<file>">;
defm emit : Value<"emit", "What to produce: ast, configs, tile, cta, nvvm, llvm, ptx, cubin (default), manifest, "
                          "header or tilepack",
                  "<kind>">;
defm card : Value<"card", "Choose by the properties of a card, as tile-run tune --calibrate has measured them; the "
                          "target is that card's unless --target says otherwise", "<file>">;
defm target : Value<"target", "GPU to compile for (default: sm_90a), or several for a tilepack or a header; "
                              "--target=help lists them", "<gpu>,...">;
defm header_name : Value<"header-name", "Prefix of the functions in a header (default: the kernel's name; for several "
                                        "kernels, the file's name)", "<name>">;
def keep_ptx : Flag<["--"], "keep-ptx">, HelpText<"Embed the PTX in a header as well, so that the program also runs in "
                                                  "the simulator">;
def strip : Flag<["--"], "strip">, HelpText<"Omit the PTX from a cubin or tilepack, which then runs only on GPUs and "
                                            "not in the simulator">;
def MD : Flag<["-"], "MD">, HelpText<"Write a dependency file <file>.d for make and ninja next to the output">;
def MF : JoinedOrSeparate<["-"], "MF">, HelpText<"With -MD: name of the dependency file">, MetaVarName<"<file>">;
defm file_prefix_map : Value<"file-prefix-map", "Replace the path prefix <old> with <new> in the source file names "
                                                "that artifacts record; /=/ keeps absolute paths (default: paths "
                                                "relative to the input's folder)", "<old>=<new>">;
def cache : Flag<["--"], "cache">, HelpText<"Cache results in the folder 'tile' in XDG_CACHE_HOME or ~/.cache">;
def cache_in : Joined<["--"], "cache=">, HelpText<"Cache results in <dir>, which only you should be able to write to">,
        MetaVarName<"<dir>">;
defm cache_size : Value<"cache-size", "Maximum size of the cache in bytes, with an optional binary suffix K, M or G "
                                      "(default: 1G)", "<n>">;
}

let Group = grp_kernel in {
defm kernel : Value<"kernel", "Kernel or instance to compile if the file has several", "<name>">;
def D : JoinedOrSeparate<["-"], "D">, HelpText<"Set a compile-time parameter; several values produce variants">,
        MetaVarName<"<name>=<value>,...">;
def I : JoinedOrSeparate<["-"], "I">, HelpText<"Add a folder to the search path for imported modules">,
        MetaVarName<"<dir>">;
defm signature : Value<"signature", "Parameter types, in order or by name: 'a: *fp16:16, n: i32'; or '@file.sig', a "
                                    "sidecar file (default: the one next to the input)", "<types>">;
defm assume : Value<"assume", "Assume that an integer parameter is a multiple of <n>, or that a pointer is aligned to "
                              "<n> bytes",
                    "<name>=<n>">;
defm size : Value<"size", "Sizes to tune the kernel's 'auto' parameters for; the result is correct for all other "
                          "sizes, too",
                  "<name>=<n>,...">;
defm num_warps : Value<"num-warps", "Warps per program: 1, 2, 4, 8, 16 or 32", "<n>">;
defm num_stages : Value<"num-stages", "Depth of software pipelines, 1 to 16", "<n>">;
defm std : Value<"std", "Language standard: triton (default), or tile1, which adds break, continue and return in "
                        "loops, '//' and '%' that round down, 64-bit program ids and x[i]", "<name>">;
defm cluster : Value<"cluster", "Cluster shape: with <m>x<n>, neighbouring programs share operands; with 1x1x<k>, CTAs "
                                "split K of one program; or auto", "<shape>">;
defm schedule : Value<"schedule", "Schedule of the kernel: cooperative (all consumer warps share a tile), pingpong "
                                  "(two warp groups alternate between tiles) or auto", "<name>">;
def instrument : Flag<["--"], "instrument">, HelpText<"Record when warps wait, copy and multiply in a buffer that "
                                                      "becomes the kernel's last parameter; tile-run --trace=FILE "
                                                      "turns it into a timeline">;
def debug : Flag<["--"], "debug">, HelpText<"Keep assertions in the kernel">;
def x : JoinedOrSeparate<["-"], "x">, HelpText<"Language of the input: tile or mlir (default: by file extension)">,
        MetaVarName<"<language>">;
}

let Group = grp_passes in {
def O : Joined<["-"], "O">, HelpText<"Optimisation level: 0, only the passes that correctness needs; 1 or 2 (default), "
                                     "all passes; 3, also alternatives of each variant's schedule, among which "
                                     "tile-run tune chooses">,
        MetaVarName<"<level>">;
defm disable : Value<"disable", "Disable optimisation passes, a comma-separated list of names", "<passes>">;
defm start_after : Value<"start-after", "Start after a pass; the input is IR printed by --stop-after", "<pass>">;
defm stop_after : Value<"stop-after", "Stop after a pass and print the IR", "<pass>">;
defm dump_ir : Value<"dump-ir", "Write the IR after every pass that changed it into <dir>", "<dir>">;
def Rpass : Joined<["-"], "Rpass=">, HelpText<"Show remarks of the passes whose names match <regex>">,
            MetaVarName<"<regex>">;
def time_passes : Flag<["--"], "time-passes">, HelpText<"Print the time spent in every phase and pass">;
def explain_config : Flag<["--"], "explain-config">,
        HelpText<"Print how the values of 'auto' were chosen, and the variants of the artifact">;
def print_layouts : Flag<["--"], "print-layouts">, HelpText<"Print tables of which thread holds which element">;
}

let Group = grp_variants in {
defm variants : Value<"variants", "Which variants of the kernel to put into the artifact; a launch uses the fastest "
                                  "that supports its arguments: none (a single kernel), alignment (for integers with "
                                  "and without the divisibility that wide accesses need), auto (default; also for "
                                  "classes of sizes), all, or invariant (the order of summation is "
                                  "the same for all sizes)", "<mode>">;
defm variants_budget : Value<"variants-budget", "Omit the least useful variants until the artifact has at most <n> "
                                                "bytes, with an optional binary suffix K or M", "<n>">;
defm tuning : Value<"tuning", "Embed tuning tables of tile-run tune, files separated by commas; the artifact has the "
                              "alternatives of -O3 that they choose, and launches use them", "<files>">;
defm bits_like : Value<"bits", "With like:<file>, compile so that every call gives the same bits as with that "
                               "artifact: with its variants and constants; an error says why the bits must change",
                       "like:<file>">;
defm variant : Value<"variant", "Compile only this variant, as listed by --explain-config", "<name>">;
def j : JoinedOrSeparate<["-"], "j">, HelpText<"Number of variants to compile in parallel (default: the number of "
                                               "cores)">, MetaVarName<"<n>">;
}

let Group = grp_diagnostics in {
def W : Joined<["-"], "W">, HelpText<"Enable a warning or a group; -Wno-<name> disables it, -Werror[=<name>] makes it "
                                     "an error, -Wall enables all">,
        MetaVarName<"<name>">;
def w : Flag<["-"], "w">, HelpText<"Suppress all warnings">;
def help_warnings : Flag<["--"], "help-warnings">, HelpText<"List the warnings">;
defm diagnostics_format : Value<"diagnostics-format", "Format of errors and warnings: text (default), json or sarif",
                                "<form>">;
}

let Group = grp_tools in {
defm ptxas : Value<"ptxas", "Path of ptxas (default: searched on PATH and in the CUDA toolkit)", "<file>">;
defm cuda_path : Value<"cuda-path", "Folder of the CUDA toolkit (default: CUDA_HOME, CUDA_PATH, /usr/local/cuda)",
                       "<dir>">;
}

let Group = grp_general in {
def help : Flag<["--"], "help">, HelpText<"Print this text">;
def h : Flag<["-"], "h">, Alias<help>;
def version : Flag<["--"], "version">, HelpText<"Print the version">;
}
