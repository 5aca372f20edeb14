// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Syntax and verification of warp roles.
#include "Cta/CtaDialect.h"

using namespace mlir;
using namespace tile;
using namespace tile::cta;

// `consumer {…} producer {…} attributes`. The regions belong to `result` from the start: the parser of MLIR takes uses
// of values away from what it destroys after an error, but knows only of the regions there.
ParseResult WarpRolesOp::parse(OpAsmParser &parser, OperationState &result) {
  Region *consumer = result.addRegion(), *producer = result.addRegion();
  if (parser.parseKeyword("consumer") || parser.parseRegion(*consumer) || parser.parseKeyword("producer") ||
      parser.parseRegion(*producer) || parser.parseOptionalAttrDict(result.attributes))
    return failure();
  for (Region *region : {consumer, producer})
    if (region->empty())
      region->emplaceBlock();
  return success();
}

void WarpRolesOp::print(OpAsmPrinter &printer) {
  printer << " consumer ";
  printer.printRegion(getConsumer(), /*printEntryBlockArgs=*/false);
  printer << " producer ";
  printer.printRegion(getProducer(), /*printEntryBlockArgs=*/false);
  printer.printOptionalAttrDict((*this)->getAttrs());
}

// PTX ISA, "setmaxnreg".
LogicalResult WarpRolesOp::verify() {
  for (std::optional<uint32_t> registers : {getConsumerRegisters(), getProducerRegisters()})
    if (registers && (*registers < 24 || *registers > 256 || *registers % 8 != 0))
      return emitOpError() << "gives a role " << int32_t(*registers)
                           << " registers; possible are multiples of 8 from 24 to 256";
  if (getConsumerRegisters().has_value() != getProducerRegisters().has_value())
    return emitOpError() << "gives one role a number of registers but not the other";
  for (Region *region : {&getConsumer(), &getProducer()})
    if (region->getNumArguments() != 0)
      return emitOpError() << "has a role with " << region->getNumArguments() << " arguments; roles take none";
  return success();
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
                           << (ofTeams ? " teams; possible are 2" : " warp groups; possible are 2 and more");
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
