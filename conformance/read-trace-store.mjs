// Prints every row of an embedded trace store, which no process has open.
import { Session } from "chdb";

const session = new Session(process.argv[2]);
const lines = (sql) => session.query(sql, "JSONEachRow").split("\n").filter(Boolean);
const tables = lines(
  "select database, name from system.tables where database not in ('system', 'INFORMATION_SCHEMA', 'information_schema') and engine like '%MergeTree'",
).map((line) => JSON.parse(line));
for (const { database, name } of tables) {
  for (const line of lines(`select * from \`${database}\`.\`${name}\``)) process.stdout.write(`${line}\n`);
}
