// Draws one warp request: the sectors of global memory that it touches, or the banks of shared memory.
function requestPicture(access) {
  const lanes = access.addresses.map((address, lane) => ({address, lane})).filter(one => one.address >= 0);
  if (access.space === 'global') {
    const sectors = [...new Set(lanes.flatMap(one => [Math.floor(one.address / 32), Math.floor((one.address + access.bytes - 1) / 32)]))].sort((a, b) => a - b).slice(0, 64);
    const cell = access.bytes >= 4 ? 4 : access.bytes, columns = 32 / cell;
    const laneAt = (row, column) => lanes.find(one => { const byte = sectors[row] * 32 + column * cell; return byte >= one.address && byte < one.address + access.bytes; });
    const cells = cellCanvas(sectors.length, columns, (row, column) => { const one = laneAt(row, column); return one ? shade(one.lane / 32) : '#ffffff'; },
      (row, column) => { const one = laneAt(row, column), byte = sectors[row] * 32 + column * cell; return `byte ${byte} of ${access.buffer || 'memory'}: ` + (one ? `lane ${one.lane}` : 'moved but unused'); },
      'sectors of a request');
    return element('div', {}, element('p', {class: 'note'}, 'Each row is a sector of 32 bytes; white bytes are moved but unused.'), cells.node);
  }
  const words = new Map();
  for (const one of lanes)
    for (let word = Math.floor(one.address / 4); word <= Math.floor((one.address + access.bytes - 1) / 4); ++word)
      words.set(word, [...(words.get(word) || []), one.lane]);
  const rows = [...new Set([...words.keys()].map(word => Math.floor(word / 32)))].sort((a, b) => a - b);
  const perBank = new Array(32).fill(0);
  for (const word of words.keys()) ++perBank[word % 32];
  const cells = cellCanvas(rows.length, 32, (row, bank) => words.has(rows[row] * 32 + bank) ? (perBank[bank] > 1 ? shade(Math.min(1, .3 + perBank[bank] / 16)) : colourOf(2)) : '#ffffff',
    (row, bank) => { const held = words.get(rows[row] * 32 + bank); return `bank ${bank}, byte ${(rows[row] * 32 + bank) * 4}: ` + (held ? `lane ${held.join(', ')}; ${perBank[bank]} words of this bank in the request` : 'not accessed'); },
    'banks of a request');
  return element('div', {}, element('p', {class: 'note'}, 'Each row is 128 bytes, each column a bank. Green: the bank serves one word; blue: it serves several, one after the other (accesses of 8 and 16 bytes are split into half and quarter warps).'), cells.node);
}

function memoryView(data) {
  if (!data.memory.length) return element('p', {class: 'note'}, data.simulated ? 'No loads or stores by threads: all copies use TMA, which moves whole rows.' : 'Nothing ran.');
  const holder = element('div', {});
  const name = access => `${access.line ? 'line ' + access.line : 'compiler-generated'}: ${access.instruction} (${access.kind}${access.buffer ? ' ' + access.buffer : ''}): ${access.actual} ${access.space === 'global' ? 'sectors' : 'wavefronts'}, ${access.ideal} would suffice`;
  const show = () => {
    const access = data.memory[select.selectedIndex], unit = access.space === 'global' ? 'sectors' : 'wavefronts';
    holder.replaceChildren(table(['', 'this request', 'all requests of the instruction'], [['requests', 1, access.requests.toLocaleString('en')], [unit, access.actual, access.transactions.toLocaleString('en')],
      [`excess ${unit}`, access.actual - access.ideal, access.wasted.toLocaleString('en')]]), requestPicture(access));
  };
  const select = element('select', {'aria-label': 'access', onchange: show, style: 'max-width: 100%'}, ...data.memory.map(access => element('option', {}, name(access))));
  const view = element('div', {}, element('p', {class: 'note'}, 'One warp request per access, the worst of the first ones; the most wasteful accesses come first.'), element('div', {class: 'controls'}, select), holder);
  view.whenShown = show;
  return view;
}
