// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Warp roles: syntax, verification, and queries for the enclosing role.
#include "Cta/CtaDialect.h"

#include "Target/Plan/RoleRegisters.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

// `<consumer, warps = 4, teams = 2, registers = 232>`; by default there is one team, register counts are not set, and
// `one_thread` is false.
Attribute RoleAttr::parse(AsmParser &parser, Type) {
  SMLoc start = parser.getCurrentLocation();
  StringRef name;
  unsigned warps = 0, teams = 1, registers = 0;
  bool oneThread = false;
  auto parseNumber = [&](StringRef keyword, unsigned &number) {
    return parser.parseKeyword(keyword) || parser.parseEqual() || parser.parseInteger(number);
  };
  if (parser.parseLess() || parser.parseKeyword(&name) || parser.parseComma() || parseNumber("warps", warps))
    return {};
  while (succeeded(parser.parseOptionalComma())) {
    if (succeeded(parser.parseOptionalKeyword("one_thread")))
      oneThread = true;
    else if (succeeded(parser.parseOptionalKeyword("teams"))) {
      if (parser.parseEqual() || parser.parseInteger(teams))
        return {};
    } else if (parseNumber("registers", registers))
      return {};
  }
  if (parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(start); }, parser.getContext(), name, warps, teams, registers,
                    oneThread);
}

void RoleAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName() << ", warps = " << getWarps();
  if (getTeams() > 1)
    printer << ", teams = " << getTeams();
  if (getRegisters())
    printer << ", registers = " << getRegisters();
  printer << (getOneThread() ? ", one_thread>" : ">");
}

LogicalResult RoleAttr::verify(function_ref<InFlightDiagnostic()> emitError, StringRef name, unsigned warps,
                               unsigned teams, unsigned registers, bool oneThread) {
  constexpr unsigned most = target::maxThreadsPerCta / target::threadsPerWarp, maxTeams = 2;
  if (warps < 1 || warps > most)
    return emitError() << "role '" << name << "' has " << warps << " warps; expected 1 to " << most;
  if (teams < 1 || teams > maxTeams || (teams > 1 && (warps != target::warpsPerGroup || oneThread)))
    return emitError() << "role '" << name << "' has " << teams << " teams of " << (oneThread ? "one thread of " : "")
                       << warps << " warps; expected one team, or two of 4 warps";
  // PTX ISA, "setmaxnreg".
  if (registers != 0 && (registers < 24 || registers > 256 || registers % 8 != 0))
    return emitError() << "role '" << name << "' has " << registers
                       << " registers per thread; expected a multiple of 8 from 24 to 256";
  return success();
}

// `role <consumer, …> {…} role <producer, …> {…} attributes`. The regions are added to `result` before they are parsed:
// after an error, MLIR's parser drops the uses of values inside regions before it destroys them, but only for regions
// that `result` owns.
ParseResult WarpRolesOp::parse(OpAsmParser &parser, OperationState &result) {
  SmallVector<Attribute> roles;
  while (succeeded(parser.parseOptionalKeyword("role"))) {
    Attribute role = RoleAttr::parse(parser, Type());
    Region *body = result.addRegion();
    if (!role || parser.parseRegion(*body))
      return failure();
    if (body->empty())
      body->emplaceBlock();
    roles.push_back(role);
  }
  result.addAttribute(getRolesAttrName(result.name), parser.getBuilder().getArrayAttr(roles));
  return parser.parseOptionalAttrDict(result.attributes);
}

void WarpRolesOp::print(OpAsmPrinter &printer) {
  for (auto [role, body] : llvm::zip_equal(getRoles().getAsRange<RoleAttr>(), getBodies())) {
    printer << " role ";
    role.print(printer);
    printer << ' ';
    printer.printRegion(body, /*printEntryBlockArgs=*/false);
  }
  printer.printOptionalAttrDict((*this)->getAttrs(), {getRolesAttrName()});
}

LogicalResult WarpRolesOp::verify() {
  if (getRoles().size() != getBodies().size() || getRoles().empty())
    return emitOpError() << "has " << getRoles().size() << " roles and " << getBodies().size()
                         << " regions; each role needs one";
  for (Region &body : getBodies())
    if (body.getNumArguments() != 0)
      return emitOpError() << "has a role with " << body.getNumArguments() << " arguments; roles take none";
  llvm::StringSet<> names;
  unsigned registers = 0, ofTeams = 0, withRegisters = 0;
  for (Role role : getAll()) {
    RoleAttr attr = role.getAttr();
    if (!names.insert(attr.getName()).second)
      return emitOpError() << "has two roles '" << attr.getName() << "'";
    if (!attr.getOneThread() && role.getFirstWarp() % attr.getWarps() != 0)
      return emitOpError() << "has role '" << attr.getName() << "' of " << attr.getWarps() << " warps at warp "
                           << role.getFirstWarp() << "; the first warp of the role must be a multiple of "
                           << attr.getWarps();
    bool isOfGroups =
        role.getFirstWarp() % target::warpsPerGroup == 0 && attr.countWarps() % target::warpsPerGroup == 0;
    if (attr.getRegisters() && !isOfGroups)
      return emitOpError() << "sets the registers of role '" << attr.getName() << "', which has " << attr.countWarps()
                           << " warps from warp " << role.getFirstWarp() << " on; only whole warp groups can set them";
    withRegisters += attr.getRegisters() ? 1 : 0;
    registers += attr.getRegisters() * attr.countWarps() * target::threadsPerWarp;
    ofTeams += attr.getTeams() > 1 ? 1 : 0;
  }
  if (ofTeams > 1)
    return emitOpError() << "has " << ofTeams << " roles of several teams; at most one is allowed";
  if (unsigned most = target::maxThreadsPerCta / target::threadsPerWarp; countWarps() > most)
    return emitOpError() << "has " << countWarps() << " warps; a CTA has at most " << most;
  if (withRegisters != 0 && withRegisters != getRoles().size())
    return emitOpError() << "gives " << withRegisters << " of " << getRoles().size()
                         << " roles a number of registers; give it to all or none";
  if (registers > target::registersPerSm)
    return emitOpError() << "gives its roles " << registers << " registers; a multiprocessor has "
                         << target::registersPerSm;
  if (std::optional<unsigned> atStart = getRegistersAtStart()) {
    unsigned all = *atStart * countWarps() * target::threadsPerWarp;
    if (registers > all)
      return emitOpError() << "gives its roles " << registers << " registers, but the CTA starts with " << all << ", "
                           << *atStart << " per thread";
  }
  return success();
}

SmallVector<Role> WarpRolesOp::getAll() {
  SmallVector<Role> all;
  unsigned firstWarp = 0;
  for (auto [attr, body] : llvm::zip_equal(getRoles().getAsRange<RoleAttr>(), getBodies())) {
    all.emplace_back(attr, body, firstWarp);
    firstWarp += attr.countWarps();
  }
  return all;
}

unsigned WarpRolesOp::countWarps() {
  unsigned warps = 0;
  for (auto role : getRoles().getAsRange<RoleAttr>())
    warps += role.countWarps();
  return warps;
}

unsigned WarpRolesOp::countResidentCtas() {
  unsigned registers = 0;
  for (auto role : getRoles().getAsRange<RoleAttr>())
    registers += role.getRegisters() * role.countWarps() * target::threadsPerWarp;
  return target::ctasOfRoleRegisters(registers);
}

// All threads start with the same number of registers, a multiple of 8.
std::optional<unsigned> WarpRolesOp::getRegistersAtStart() {
  unsigned ctas = countResidentCtas();
  if (ctas == 0)
    return std::nullopt;
  return target::registersAtStart(ctas, countWarps() * target::threadsPerWarp);
}

bool Role::fills(Value ring) const {
  return llvm::any_of(ring.getUsers(), [&](Operation *user) {
    return isa<RingAcquireOp>(user) && body->isAncestor(user->getParentRegion());
  });
}

bool Role::reads(Value ring) const {
  return llvm::any_of(ring.getUsers(), [&](Operation *user) {
    return isa<RingWaitOp, RingReleaseOp>(user) && body->isAncestor(user->getParentRegion());
  });
}

std::optional<Role> tile::cta::findRole(Operation *op) {
  auto roles = op->getParentOfType<WarpRolesOp>();
  if (!roles)
    return std::nullopt;
  for (Role role : roles.getAll())
    if (role.getBody().isAncestor(op->getParentRegion()))
      return role;
  llvm_unreachable("a nested operation is in one of the regions");
}

WarpRolesOp tile::cta::findRoles(KernelOp kernel) {
  auto all = kernel.getBody().front().getOps<WarpRolesOp>();
  return llvm::hasSingleElement(all) ? *all.begin() : WarpRolesOp();
}

unsigned tile::cta::countWarps(KernelOp kernel) {
  WarpRolesOp roles = findRoles(kernel);
  return roles ? roles.countWarps() : kernel.getNumWarps();
}

bool tile::cta::isTurnOfTeams(Operation *op) {
  if (auto open = dyn_cast<TurnOpenOp>(op))
    return open.getTeams();
  if (auto begin = dyn_cast<TurnBeginOp>(op))
    return begin.getTeams();
  auto end = dyn_cast<TurnEndOp>(op);
  return end && end.getTeams();
}

static LogicalResult verifyTurn(Operation *op, int32_t groups, bool ofTeams) {
  if (ofTeams ? groups == 2 : groups > 1)
    return success();
  return op->emitOpError() << "is for " << groups
                           << (ofTeams ? " teams; expected 2" : " warp groups; expected at least 2");
}

LogicalResult TurnOpenOp::verify() {
  return verifyTurn(*this, getGroups(), getTeams());
}
LogicalResult TurnBeginOp::verify() {
  return verifyTurn(*this, getGroups(), getTeams());
}
LogicalResult TurnEndOp::verify() {
  return verifyTurn(*this, getGroups(), getTeams());
}
