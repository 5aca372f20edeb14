// MMAs and multiply-adds of each line: one record of a warp is one statement of wgmma, the same in each.
const fs = require('fs');
const trace = JSON.parse(fs.readFileSync(process.argv[2])), profile = JSON.parse(fs.readFileSync(process.argv[3]));
for (const line of profile.lines.filter(line => line.multiply_adds)) {
  const records = trace.traceEvents.filter(event => event.name === `MMAs at line ${line.line}`).length;
  // Blocks of 64 queries and 128 keys, heads of 64: a warp has 16 of the 64 rows.
  console.log(`line ${line.line}: ${records * 16 * 128 * 64 === line.multiply_adds ? 'the same' : `${records} records, ${line.multiply_adds} multiply-adds`}`);
}
