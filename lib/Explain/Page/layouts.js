// Draws layouts: the linear map from (register, lane, warp), or from an offset, to a position in the tensor.

/// Computes the coordinates of an input: the XOR of the bases of its set bits.
function applyBases(bases, value, into) {
  for (let bit = 0; bit < bases.length; ++bit)
    if (value >> bit & 1) for (let dim = 0; dim < into.length; ++dim) into[dim] ^= bases[bit][dim];
}

/// Returns for each element, row by row of the last two dimensions, the first input that holds it and the number of
/// inputs that do.
function ownersOf(layout) {
  const rank = layout.shape.length, count = layout.shape.reduce((a, b) => a * b, 1);
  const names = Object.keys(layout.bases), owners = new Array(count).fill(null), copies = new Int32Array(count);
  const sizes = names.map(name => 1 << layout.bases[name].length);
  const total = sizes.reduce((a, b) => a * b, 1);
  for (let input = 0; input < total; ++input) {
    const coordinate = new Array(rank).fill(0), values = {};
    let remainder = input;
    names.forEach((name, i) => { values[name] = remainder % sizes[i]; remainder = Math.floor(remainder / sizes[i]); applyBases(layout.bases[name], values[name], coordinate); });
    const flat = coordinate.reduce((sum, value, dim) => sum * layout.shape[dim] + value, 0);
    owners[flat] = owners[flat] || values;
    ++copies[flat];
  }
  return {owners, copies};
}

const bankOf = (byte) => Math.floor(byte / 4) % 32;

function layoutPicture(layout) {
  const columns = layout.shape.length ? layout.shape[layout.shape.length - 1] : 1;
  const rows = layout.shape.reduce((a, b) => a * b, 1) / columns;
  const {owners, copies} = ownersOf(layout);
  const bytes = Math.max(1, layout.element_bits / 8);
  const isShared = layout.kind === 'shared';
  const modes = isShared ? ['bank', 'bank without swizzle', 'offset'] : ['warp', 'lane', 'register'];
  let mode = modes[0];
  const colour = (row, column) => {
    const flat = row * columns + column, owner = owners[flat];
    if (!owner) return '#ffffff';
    if (mode === 'bank') return colourOf(bankOf(owner.offset * bytes));
    if (mode === 'bank without swizzle') return colourOf(bankOf(flat * bytes));
    if (mode === 'offset') return shade(owner.offset / owners.length);
    if (mode === 'warp') return colourOf(owner.warp || 0);
    return mode === 'lane' ? shade((owner.lane || 0) / 32) : colourOf(owner.register || 0);
  };
  const describe = (row, column) => {
    const flat = row * columns + column, owner = owners[flat];
    const place = `(${row}, ${column}) ↔ `;
    if (isShared) return place + `offset ${owner.offset}: byte ${owner.offset * bytes}, bank ${bankOf(owner.offset * bytes)}; without a swizzle bank ${bankOf(flat * bytes)}`;
    const used = name => (layout.bases[name] || []).map((basis, bit) => (owner[name] || 0) >> bit & 1 ? `[${basis}]` : '').filter(Boolean).join(' ⊕ ') || '0';
    return place + `warp ${owner.warp || 0}, lane ${owner.lane || 0}, register ${owner.register || 0}` +
      (copies[flat] > 1 ? ` and ${copies[flat] - 1} more` : '') + `; bases: warp ${used('warp')}, lane ${used('lane')}, register ${used('register')}`;
  };
  const cells = cellCanvas(rows, columns, colour, describe, 'layout of ' + layout.types.join(', '));
  const select = element('select', {'aria-label': 'colours', onchange: () => { mode = select.value; cells.redraw(); }}, ...modes.map(name => element('option', {}, name)));
  const bases = table(['bit', ...['basis']], Object.entries(layout.bases).flatMap(([name, list]) =>
    list.map((basis, bit) => [`${name} bit ${bit}`, `[${basis.join(', ')}]`])));
  return element('div', {}, element('div', {class: 'controls'}, element('label', {}, 'colour: ', select)), cells.node,
    element('details', {}, element('summary', {}, 'bases of the linear map'), bases));
}

function layoutsView(data) {
  if (!data.layouts.length) return element('p', {class: 'note'}, 'No value has a layout.');
  const holder = element('div', {});
  const show = () => holder.replaceChildren(layoutPicture(data.layouts[select.selectedIndex]));
  const select = element('select', {'aria-label': 'layout', onchange: show, style: 'max-width: 100%'}, ...data.layouts.map(layout =>
    element('option', {}, `${layout.kind === 'shared' ? 'shared memory' : 'registers'}: ${layout.types.join(', ')}${layout.lines.length ? ` (line ${layout.lines.slice(0, 6).join(', ')})` : ''}`)));
  const elements = layout => layout.shape.reduce((a, b) => a * b, 1);
  select.selectedIndex = data.layouts.reduce((best, layout, i) => elements(layout) > elements(data.layouts[best]) ? i : best, 0);
  const view = element('div', {}, element('div', {class: 'controls'}, select), holder);
  view.whenShown = show;
  return view;
}
