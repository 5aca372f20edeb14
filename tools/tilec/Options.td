// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Options of tilec, with clang's conventions. `tilec run` takes the same and hands the rest to the runner.
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

let Group = grp_output in {
def o : JoinedOrSeparate<["-"], "o">, HelpText<"Write the result to <file>; '-' is standard output">,
        MetaVarName<"<file>">;
defm emit : Value<"emit", "What to make: ast, configs, tile, cta, nvvm, llvm, ptx, cubin (default), manifest, header or tilepack",
                  "<kind>">;
defm target : Value<"target", "GPU to compile for (default: sm_90a), or several for a tilepack or a header; --target=help lists them", "<gpu>,...">;
}

let Group = grp_output in {
defm header_name : Value<"header-name", "What a header's functions begin with (default: the kernel's name)", "<name>">;
def keep_ptx : Flag<["--"], "keep-ptx">, HelpText<"Leave the PTX in a header, so that the program also runs in the simulator">;
def MD : Flag<["-"], "MD">, HelpText<"Write the files that the result depends on beside it, as a rule for make and ninja in <file>.d">;
def MF : JoinedOrSeparate<["-"], "MF">, HelpText<"With -MD: write the rule to <file>">, MetaVarName<"<file>">;
defm file_prefix_map : Value<"file-prefix-map", "In names of source files in artifacts, <new> stands for the folder <old>; /=/ keeps "
                             "absolute paths (default: relative to the input's folder)", "<old>=<new>">;
}

let Group = grp_output in {
def cache : Flag<["--"], "cache">, HelpText<"Keep results, and take what was made before, in the folder tile below XDG_CACHE_HOME or ~/.cache">;
def cache_in : Joined<["--"], "cache=">, HelpText<"The same in <dir>, where only you may write">, MetaVarName<"<dir>">;
defm cache_size : Value<"cache-size", "Most bytes of the cache (K, M, G: times 1024 once, twice, three times; default: 1G)", "<n>">;
}

let Group = grp_kernel in {
defm kernel : Value<"kernel", "Kernel or instance to compile, when the file has several", "<name>">;
def D : JoinedOrSeparate<["-"], "D">, HelpText<"Give a compile-time parameter its value; several make variants">,
        MetaVarName<"<name>=<value>,...">;
def I : JoinedOrSeparate<["-"], "I">, HelpText<"Folder in which modules that the file imports are searched">,
        MetaVarName<"<dir>">;
defm signature : Value<"signature", "Types of the parameters, in order or by name: 'a: *fp16:16, n: i32'; or '@file.sig', a sidecar (default: the one beside the input)", "<types>">;
defm assume : Value<"assume", "An integer parameter is a multiple of <n>, or a pointer aligned to <n> bytes",
                    "<name>=<n>">;
defm size : Value<"size", "Sizes to expect, for what the kernel leaves open by 'auto'; it stays right for all others",
                  "<name>=<n>,...">;
defm num_warps : Value<"num-warps", "Warps of 32 threads that run one program: 1, 2, 4, 8, 16 or 32", "<n>">;
defm num_stages : Value<"num-stages", "Depth of software pipelines, 1 to 16", "<n>">;
defm std : Value<"std", "Rules of the language: triton (default), or tile1: break, continue, return in loops, '//' and '%' "
                        "that round down, 64-bit program numbers, x[i]", "<name>">;
defm cluster : Value<"cluster", "CTAs that share operands, of <m>x<n> neighbouring programs, or the steps of one, 1x1x<k>; or auto", "<shape>">;
defm schedule : Value<"schedule", "Kernel schedule: cooperative, all consumer warps share a tile; pingpong, two warp groups alternate between tiles; or auto", "<name>">;
def instrument : Flag<["--"], "instrument">, HelpText<"Record when warps wait, copy and multiply, in a buffer that the kernel takes as its last parameter; tile-run --trace=FILE makes a time line of it">;
def debug : Flag<["--"], "debug">, HelpText<"Keep assertions in the kernel">;
def x : JoinedOrSeparate<["-"], "x">, HelpText<"Language of the input: tile or mlir (default: by the file's name)">,
        MetaVarName<"<language>">;
}

let Group = grp_passes in {
def O : Joined<["-"], "O">, HelpText<"0: only what correctness needs; 1, 2 (default): every optimisation">,
        MetaVarName<"<level>">;
defm disable : Value<"disable", "Disable optimisation passes, by name, separated by commas", "<passes>">;
defm start_after : Value<"start-after", "Begin after a pass: the input is IR that --stop-after printed", "<pass>">;
defm stop_after : Value<"stop-after", "Stop after a pass and print the IR", "<pass>">;
defm dump_ir : Value<"dump-ir", "Write the IR after every pass that changed it into <dir>", "<dir>">;
def Rpass : Joined<["-"], "Rpass=">, HelpText<"Show what the passes say whose names match <regex>">,
            MetaVarName<"<regex>">;
def time_passes : Flag<["--"], "time-passes">, HelpText<"Print the time of every phase and pass">;
def explain_config : Flag<["--"], "explain-config">, HelpText<"Print how what 'auto' leaves open was chosen, and the variants of an artifact">;
def print_layouts : Flag<["--"], "print-layouts">, HelpText<"Print which thread holds which element, as tables">;
}

def grp_variants : OptionGroup<"variants">, HelpText<"Variants">;

let Group = grp_variants in {
defm variants : Value<"variants", "Kernels of an artifact, of which a launch takes the fastest that serves it: none (one, as "
                                  "promises and sizes say), alignment (for aligned and other arguments), auto (default; for "
                                  "sizes, too), all, or invariant (rows are summed in one order for all sizes)", "<mode>">;
defm variants_budget : Value<"variants-budget", "Leave out those that gain least until the artifact has at most <n> bytes "
                                                "(K, M: times 1024, 1024 * 1024)", "<n>">;
defm variant : Value<"variant", "Make only this one, which --explain-config lists; also as text", "<name>">;
def j : JoinedOrSeparate<["-"], "j">, HelpText<"Variants to compile at a time (default: as many as cores)">, MetaVarName<"<n>">;
}

def grp_diagnostics : OptionGroup<"diagnostics">, HelpText<"Diagnostics">;

let Group = grp_diagnostics in {
def W : Joined<["-"], "W">, HelpText<"Enable a warning or a group; -Wno-<name> disables it, -Werror[=<name>] makes it an "
                                    "error, -Wall enables every one">,
        MetaVarName<"<name>">;
def w : Flag<["-"], "w">, HelpText<"Report no warnings">;
def help_warnings : Flag<["--"], "help-warnings">, HelpText<"List the warnings">;
defm diagnostics_format : Value<"diagnostics-format", "Form of errors and warnings: text (default), json or sarif",
                                "<form>">;
}

let Group = grp_tools in {
defm ptxas : Value<"ptxas", "The assembler (default: from PATH, or from the CUDA toolkit)", "<file>">;
defm cuda_path : Value<"cuda-path", "Folder of the CUDA toolkit (default: CUDA_HOME, CUDA_PATH, /usr/local/cuda)",
                       "<dir>">;
}

def grp_general : OptionGroup<"general">, HelpText<"General">;

let Group = grp_general in {
def help : Flag<["--"], "help">, HelpText<"Print this text">;
def h : Flag<["-"], "h">, Alias<help>;
def version : Flag<["--"], "version">, HelpText<"Print the version">;
}
