// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Lines and commands. A line begins where the innermost source location, or the program, changes.
#include "Interpreter/Debugger.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <istream>

using namespace mlir;
using llvm::formatv;

namespace tile::interp {

/// The combine function of a reduction runs on many elements at once, so the whole reduction is one step.
static bool isInCombine(Operation *op) {
  return isa_and_present<TileDialect>(op->getParentOp()->getDialect()) && !isa<KernelOp>(op->getParentOp());
}

bool Debugger::before(Machine &machine, const Instruction &instruction) {
  if (isInCombine(instruction.op))
    return true;
  std::vector<StackFrame> next = info.stackOf(instruction.op);
  bool isNewProgram = program != machine.program;
  bool isNewLine = !next.empty() && (isNewProgram || stack.empty() || !(next.front() == stack.front()));
  if (!isNewLine) {
    here = instruction.op;
    return true;
  }
  leaveLines(machine, isNewProgram ? ArrayRef<StackFrame>() : ArrayRef<StackFrame>(next));
  if (isNewProgram)
    wasTrue.assign(request.breakpoints.size(), false);
  program = machine.program;
  stack = std::move(next);
  here = instruction.op;
  selected = 0;
  bool stops = isBreakpoint(machine, here, stack.front()) || mode == Mode::Step ||
               (mode == Mode::Next && stack.size() <= stepDepth);
  if (!stops)
    return true;
  showPlace(machine, "stopped");
  if (prompt(machine))
    return true;
  return machine.fail(instruction, "the debugger was told to quit");
}

void Debugger::ended(Machine &machine) {
  leaveLines(machine, {});
  bool isOwn = machine.error && StringRef(machine.error->message) == "the debugger was told to quit";
  bool isInteractive = !request.breakpoints.empty() || mode != Mode::Continue;
  if (machine.error && !isOwn && isInteractive && !stack.empty()) {
    out << machine.error->toString() << '\n';
    selected = 0;
    showPlace(machine, "failed");
    prompt(machine);
  }
  stack.clear();
}

void Debugger::reportUnreached() const {
  for (auto [index, condition] : llvm::enumerate(request.breakpoints))
    if (!hasStopped[index])
      out << formatv("no program reached '{0}'\n", condition.toString());
}

/// Leaves the lines of frames that have ended; the caller of a helper stays in the line of the call.
void Debugger::leaveLines(Machine &machine, ArrayRef<StackFrame> next) {
  for (size_t depth = stack.size(); depth-- > 0;) {
    const StackFrame &frame = stack[stack.size() - 1 - depth];
    bool stays = depth < next.size() && next[next.size() - 1 - depth] == frame;
    if (!stays && isPrinted(machine, frame))
      leaveLine(machine, frame);
  }
}

bool Debugger::isPrinted(const Machine &machine, const StackFrame &frame) const {
  return llvm::any_of(request.printLines, [&](const PrintedLine &printed) {
    return printed.line == frame.line &&
           (!printed.condition ||
            printed.condition->holds(machine, info, here, frame, /*isAfter=*/true).value_or(false));
  });
}

/// Prints the variables that the line has assigned or, if there are none, those that it mentions.
void Debugger::leaveLine(Machine &machine, const StackFrame &frame) {
  std::vector<const Variable *> shown;
  for (const Variable &variable : info.variables)
    if (variable.line == frame.line && variable.frame == frame.key &&
        info.find(here, frame.key, variable.name, /*isAfter=*/true) == &variable)
      shown.push_back(&variable);
  if (shown.empty() && frame.line <= info.lines.size()) {
    std::set<std::string> seen;
    for (StringRef remaining = info.lines[frame.line - 1]; !remaining.empty();) {
      remaining = remaining.drop_until([](char c) { return llvm::isAlnum(c) || c == '_'; });
      StringRef word = remaining.take_while([](char c) { return llvm::isAlnum(c) || c == '_'; });
      remaining = remaining.drop_front(word.size());
      const Variable *variable = info.find(here, frame.key, word);
      if (variable && seen.insert(word.str()).second)
        shown.push_back(variable);
    }
  }
  auto [x, y, z] = *program;
  for (const Variable *variable : shown) {
    out << formatv("line {0} pid ({1}, {2}, {3}) ", frame.line, x, y, z);
    printVariable(machine, *variable);
  }
}

/// Returns true at a breakpoint. A condition stops when it becomes true or, if it contains a line number, each time
/// that line is reached.
bool Debugger::isBreakpoint(Machine &machine, Operation *op, const StackFrame &frame) {
  bool stops = false;
  for (auto [index, condition] : llvm::enumerate(request.breakpoints)) {
    std::optional<bool> holds = condition.holds(machine, info, op, frame);
    stops |= holds.value_or(false) && (condition.namesLine() || !wasTrue[index]);
    hasStopped[index] = hasStopped[index] || holds.value_or(false);
    wasTrue[index] = holds.value_or(wasTrue[index]);
  }
  return stops;
}

void Debugger::showPlace(const Machine &machine, StringRef reason) {
  const StackFrame &frame = stack[selected];
  auto [x, y, z] = machine.program;
  out << formatv("{0} in program ({1}, {2}, {3}) at {4}:{5} in '{6}'\n", reason, x, y, z, frame.file, frame.line,
                 info.functionOf(frame));
  if (frame.line <= info.lines.size())
    out << formatv("  {0}  {1}\n", frame.line, StringRef(info.lines[frame.line - 1]).trim());
}

bool Debugger::prompt(Machine &machine) {
  std::string text;
  for (bool resumes = false; !resumes;) {
    out << "(tile) ";
    out.flush();
    if (!std::getline(in, text)) {
      out << '\n';
      return false; // end of input
    }
    StringRef line = StringRef(text).trim();
    if (line.empty())
      line = lastCommand; // an empty line repeats the last command, as in other debuggers
    std::string whole = line.str();
    auto [command, argument] = StringRef(whole).split(' ');
    if (!execute(machine, command, argument.trim(), resumes))
      return false;
    lastCommand = whole;
  }
  return true;
}

static constexpr const char *helpText =
    R"(print EXPRESSION               a variable, x[2, :], sum(x * y) - 1, x > 0 and not done; also pid, grid
locals                         all variables of the function
step, next                     to the next line; next does not enter helpers
continue                       to the next breakpoint
break CONDITION                stop where the condition becomes true: pid==(1,0) and k>=3, line==12
up, down, where                move along the call stack, or print it
list                           the source around this line
quit                           end the run
The first letter of a command is enough; 'bt' is 'where'. An empty line repeats the last command.
)";

bool Debugger::execute(Machine &machine, StringRef command, StringRef argument, bool &resumes) {
  auto is = [&](StringRef name) { return command == name || (command.size() == 1 && name.starts_with(command)); };
  if (command.empty())
    return true;
  if (is("print")) {
    print(machine, argument);
  } else if (command == "locals") {
    for (const Variable *variable : info.visible(here, stack[selected].key))
      printVariable(machine, *variable);
  } else if (is("step") || is("next") || is("continue")) {
    mode = is("step") ? Mode::Step : is("next") ? Mode::Next : Mode::Continue;
    stepDepth = stack.size();
    resumes = true;
  } else if (is("break")) {
    addBreakpoint(argument);
  } else if (is("up") || is("down")) {
    move(machine, is("up") ? 1 : -1);
  } else if (is("where") || command == "bt") {
    where();
  } else if (is("list")) {
    list();
  } else if (is("quit")) {
    return false;
  } else if (is("help")) {
    out << helpText;
  } else {
    out << formatv("unknown command '{0}'; help lists them\n", command);
  }
  return true;
}

void Debugger::printVariable(const Machine &machine, const Variable &variable) {
  std::string type = typeOf(variable);
  out << variable.name << (type.empty() ? "" : ": " + type) << " = ";
  printValue(out, machine, variable);
  out << '\n';
}

/// Prints NAME[i, j], where NAME may be a tensor of pointers.
bool Debugger::printElementOf(const Machine &machine, StringRef text) {
  auto [name, subscript] = text.split('[');
  const Variable *variable = info.find(here, stack[selected].key, name.trim());
  if (!variable || !subscript.consume_back("]"))
    return false;
  SmallVector<int64_t> index;
  for (StringRef word : llvm::split(subscript, ','))
    if (word.trim().getAsInteger(10, index.emplace_back()))
      return false;
  std::string element;
  llvm::raw_string_ostream stream(element);
  if (!printElement(stream, machine, *variable, index))
    return false;
  out << text << " = " << element << '\n';
  return true;
}

/// Prints a variable, or else evaluates an expression. Elements of tuples are variables called NAME[i].
void Debugger::print(const Machine &machine, StringRef text) {
  if (text == "pid" || text == "grid") {
    std::array<uint32_t, 3> grid{machine.grid.x, machine.grid.y, machine.grid.z};
    auto [x, y, z] = text == "pid" ? machine.program : grid;
    out << formatv("{0} = ({1}, {2}, {3})\n", text, x, y, z);
    return;
  }
  Attribute frame = stack[selected].key;
  if (const Variable *variable = info.find(here, frame, text))
    return printVariable(machine, *variable);
  if (StringRef name = text.split('[').first.trim(); info.find(here, frame, (name + "[0]").str())) {
    out << formatv("'{0}' is a tuple; print {0}[0] and so on\n", name);
    return;
  }
  llvm::Expected<ValueArray> values = evaluateExpression(text, [&](StringRef name) -> std::optional<ValueArray> {
    if (name == "pid")
      return ValueArray{{3}, std::vector<double>(machine.program.begin(), machine.program.end())};
    const Variable *variable = info.find(here, frame, name);
    return variable ? valuesOf(machine, *variable) : std::nullopt;
  });
  if (!values) {
    out << toString(values.takeError()) << '\n';
    return;
  }
  out << text << " = ";
  printValues(out, *values);
  out << '\n';
}

void Debugger::move(const Machine &machine, int distance) {
  size_t target = selected + size_t(distance);
  if (target >= stack.size()) {
    out << (distance > 0 ? "this is the kernel; nothing calls it\n" : "this is the innermost call\n");
    return;
  }
  selected = target;
  showPlace(machine, "looking");
}

void Debugger::where() const {
  for (auto [index, frame] : llvm::enumerate(stack))
    out << formatv("{0} {1}:{2} in '{3}'\n", index == selected ? '*' : ' ', frame.file, frame.line,
                   info.functionOf(frame));
}

void Debugger::list() const {
  constexpr size_t around = 4;
  size_t line = stack[selected].line;
  for (size_t number = line > around ? line - around : 1; number <= std::min(line + around, info.lines.size());
       ++number)
    out << formatv("{0} {1,4}  {2}\n", number == line ? '>' : ' ', number, info.lines[number - 1]);
}

void Debugger::addBreakpoint(StringRef text) {
  llvm::Expected<Condition> condition = Condition::parse(text);
  if (!condition) {
    out << toString(condition.takeError()) << '\n';
    return;
  }
  if (std::string mistake = condition->findMistake(info); !mistake.empty()) {
    out << mistake << '\n';
    return;
  }
  request.breakpoints.push_back(std::move(*condition));
  wasTrue.push_back(true); // a condition that already holds does not become true
  hasStopped.push_back(false);
}

} // namespace tile::interp
