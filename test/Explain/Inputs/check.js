const wgmma = {shape: [128, 64], bases: {register: [[0, 1], [8, 0], [0, 8], [0, 16], [0, 32]], lane: [[0, 2], [0, 4], [1, 0], [2, 0], [4, 0]], warp: [[16, 0], [32, 0], [64, 0]]}};
const {owners, copies} = ownersOf(wgmma);
const at = owners[25 * 64 + 4]; // row 16 + 8 + 1, column 4
console.log(JSON.stringify({warp: at.warp, lane: at.lane, register: at.register}));
console.log(`${owners.filter(Boolean).length} elements, ${Math.min(...copies)} to ${Math.max(...copies)} copies`);
console.log(JSON.stringify(alignLines(['a', 'b', 'c', 'd'], ['a', 'x', 'c', 'y', 'd'])));
console.log([1234567, 999, 12345].map(shortNumber).join(', '));
const facts = lineFacts({line: 1, live_registers: 40, engines: {arithmetic: 90, TMA: 10}, counters: {instructions: 100, multiply_adds: 512, copied_in_bytes: 64, global_requests: 2, global_sectors: 8, global_sectors_ideal: 2}});
console.log(facts.text, facts.bad);
console.log(JSON.stringify(waitsByLine({roles: 2, lanes: [{spans: [[0, 5, 'wait', 3], [5, 9, 'work', 3], [9, 19, 'wait', 4]]}, {spans: [[0, 7, 'wait', 3]]}, {spans: [[0, 50, 'wait', 3]]}]})));
const l2 = {arrays: [{blocks: [[0, 4], [2, 4], [8, 2]]}, {blocks: [[1, 1, 5, 1], [5, 1], []]}]};
console.log([...expandRuns([3, 2, 9, 1])].join(' '), sharedCells(l2, 0, 1), sharedCells(l2, 1, 0).toFixed(2), sharedCells(l2, 0, 2), sharedCells(l2, 2, 2));
const state = gridState({thread_blocks: 6, at_a_time: 4, persistent: false});
state.time = .4;
console.log([0, 3, 4, 5].map(cta => `${state.waveOf(cta)}${state.hasBegun(cta) ? '+' : '-'}`).join(' '), state.wave());
console.log(criticalText({clocks: 100, critical: [{kind: 'copy', line: 3, clocks: 60}, {kind: 'work', line: 0, clocks: 36}, {kind: 'work', line: 2, clocks: 4}]}));
console.log(JSON.stringify(criticalParts({spans: [[0, 10, 'work', 1], [10, 20, 'work', 2], [25, 40, 'work', 1]]}, {spans: [[0, 4, 'copy', 1], [4, 8, 'work', 1], [8, 30, 'work', 2], [30, 50, 'work', 1]]})));
console.log(JSON.stringify(tokensOf('    x = tl.load(p + 2, mask="#")  # row')));
