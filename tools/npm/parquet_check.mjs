// Reads a Parquet file with somebody else's reader and prints it: {"rows": N, "columns": {name: [first values]}}.
// Usage: parquet_check.mjs FILE [ROWS]
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {tableFromIPC} from 'apache-arrow';

const require = createRequire(import.meta.url);
const parquet = require('parquet-wasm/node');
const [file, rows = '5'] = process.argv.slice(2);
const table = tableFromIPC(parquet.readParquet(new Uint8Array(readFileSync(file))).intoIPCStream());
const columns = {};
for (const field of table.schema.fields) {
  const column = table.getChild(field.name);
  columns[field.name] = [];
  for (let i = 0; i < Math.min(Number(rows), table.numRows); ++i) {
    const value = column.get(i);
    columns[field.name].push(typeof value === 'bigint' ? Number(value) : value);
  }
}
console.log(JSON.stringify({rows: table.numRows, columns}));
