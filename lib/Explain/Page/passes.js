// The IR before and after each pass that changed it, side by side.

/// Returns pairs of line indices [before, after]; -1: no counterpart. Longest common subsequence by Myers, on lines
/// without SSA value numbers. Beyond `most` differences the remaining lines count as changed.
function alignLines(before, after, most = 1500) {
  let start = 0, endA = before.length, endB = after.length;
  while (start < endA && start < endB && before[start] === after[start]) ++start;
  while (endA > start && endB > start && before[endA - 1] === after[endB - 1]) { --endA; --endB; }
  const n = endA - start, m = endB - start, pairs = [];
  const traces = [];
  let reach = new Map([[1, 0]]), found = -1;
  for (let d = 0; d <= Math.min(most, n + m) && found < 0; ++d) {
    traces.push(new Map(reach));
    for (let k = -d; k <= d; k += 2) {
      let x = k === -d || (k !== d && (reach.get(k - 1) ?? -1) < (reach.get(k + 1) ?? -1)) ? reach.get(k + 1) : reach.get(k - 1) + 1;
      let y = x - k;
      while (x < n && y < m && before[start + x] === after[start + y]) { ++x; ++y; }
      reach.set(k, x);
      if (x >= n && y >= m) { found = d; break; }
    }
  }
  if (found < 0) {
    for (let i = 0; i < Math.max(n, m); ++i) pairs.push([i < n ? start + i : -1, i < m ? start + i : -1, false]);
  } else {
    let x = n, y = m;
    for (let d = found; d >= 0; --d) {
      const seen = traces[d], k = x - y;
      const down = k === -d || (k !== d && (seen.get(k - 1) ?? -1) < (seen.get(k + 1) ?? -1));
      const fromK = down ? k + 1 : k - 1, fromX = d ? seen.get(fromK) : 0, fromY = d ? fromX - fromK : 0;
      while (x > fromX && y > fromY && x > 0 && y > 0 && before[start + x - 1] === after[start + y - 1]) pairs.push([start + --x, start + --y, true]);
      if (d) pairs.push(down ? [-1, start + --y, false] : [start + --x, -1, false]);
    }
    pairs.reverse();
  }
  const head = Array.from({length: start}, (_, i) => [i, i, true]);
  const tail = Array.from({length: before.length - endA}, (_, i) => [endA + i, endB + i, true]);
  return [...head, ...joinChanges(pairs), ...tail];
}

/// Puts removed and added lines of one location side by side.
function joinChanges(pairs) {
  const joined = [];
  let gone = [], came = [];
  const flush = () => {
    for (let i = 0; i < Math.max(gone.length, came.length); ++i) joined.push([gone[i] ?? -1, came[i] ?? -1, false]);
    gone = [];
    came = [];
  };
  for (const pair of pairs) {
    if (pair[2]) { flush(); joined.push(pair); continue; }
    if (pair[0] >= 0) gone.push(pair[0]);
    if (pair[1] >= 0) came.push(pair[1]);
  }
  flush();
  return joined;
}

function passesView(data) {
  const {lines, passes} = data.passes;
  const plain = lines.map(line => line.replace(/%[\w#]+(:\d+)?/g, '%').replace(/#layout\d*/g, '#'));
  const holder = element('div', {class: 'pane code', tabindex: 0, 'aria-label': 'IR before and after the pass'});
  const remarks = element('div', {});
  const select = element('select', {'aria-label': 'pass', onchange: () => show(select.selectedIndex)},
    ...passes.map((pass, i) => element('option', {}, `${i}. ${pass.name}${pass.remarks.length ? ' *' : ''}`)));
  const all = element('input', {type: 'checkbox', id: 'all-lines', onchange: () => show(select.selectedIndex)});
  const show = index => {
    const after = passes[index].lines, before = index ? passes[index - 1].lines : [];
    remarks.replaceChildren(...passes[index].remarks.map(remark => element('p', {class: 'note'},
      (remark.line ? `line ${remark.line}: ` : '') + remark.text)));
    const pairs = alignLines(before.map(i => plain[i]), after.map(i => plain[i]));
    const diff = element('div', {class: 'diff'});
    const near = new Set();
    pairs.forEach((pair, i) => { if (!pair[2]) for (let j = i - 3; j <= i + 3; ++j) near.add(j); });
    let skipped = 0;
    const add = (name, text) => diff.append(element('div', {class: name, title: text}, text));
    pairs.forEach(([from, to, same], i) => {
      if (same && !all.checked && index && !near.has(i)) { ++skipped; return; }
      if (skipped) { add('same', `⋯ ${skipped} unchanged lines`); add('same', ''); skipped = 0; }
      add(same ? 'same' : from >= 0 ? 'gone' : '', from >= 0 ? lines[before[from]] : '');
      add(same ? 'same' : to >= 0 ? 'came' : '', to >= 0 ? lines[after[to]] : '');
    });
    holder.replaceChildren(diff);
    holder.scrollTop = 0;
  };
  select.selectedIndex = Math.min(1, passes.length - 1);
  show(select.selectedIndex);
  const step = by => { select.selectedIndex = Math.min(Math.max(select.selectedIndex + by, 0), passes.length - 1); show(select.selectedIndex); };
  return element('div', {},
    element('div', {class: 'controls'}, select,
      element('button', {type: 'button', onclick: () => step(-1)}, 'previous'), element('button', {type: 'button', onclick: () => step(1)}, 'next'),
      element('label', {for: 'all-lines'}, all, ' all lines'),
      element('span', {class: 'note'}, 'Passes that changed the IR; * marks those with remarks. Left: before; right: after.')),
    remarks, holder);
}
