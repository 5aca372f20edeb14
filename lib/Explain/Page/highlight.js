// Colours of the source: comments and directives, strings, numbers, keywords, decorators, functions of the language.
const sourceWords = /(#.*$)|("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')|(@[\w.]+)|\b(def|class|return|if|elif|else|for|while|in|is|not|and|or|import|from|as|with|pass|break|continue|lambda|None|True|False|assert|constexpr|auto)\b|\b(tl(?:\.\w+)+)|\b(\d[\w.]*)/g;
const sourceKinds = ['comment', 'string', 'decorator', 'keyword', 'builtin', 'number-literal'];

/// Splits a line into [kind, text]; kind '' is plain text.
function tokensOf(line) {
  const tokens = [];
  let end = 0;
  for (const match of line.matchAll(sourceWords)) {
    if (match.index > end) tokens.push(['', line.slice(end, match.index)]);
    tokens.push([sourceKinds[match.slice(1).findIndex(group => group !== undefined)], match[0]]);
    end = match.index + match[0].length;
  }
  if (end < line.length) tokens.push(['', line.slice(end)]);
  return tokens;
}

function highlighted(line) {
  return tokensOf(line).map(([kind, text]) => kind ? element('span', {class: kind}, text) : text);
}
