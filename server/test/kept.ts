/** Opens a cluster that a failed test run kept: `node --import tsx server/test/kept.ts <directory>`. */
import { EmbeddedPostgres } from "../src/base/db/embedded-postgres.ts";

const cluster = new EmbeddedPostgres({ dataDir: process.argv[2] ?? ".", log: console.error });
const { uri } = await cluster.start();
console.log(`${uri} (another database: change the last part), until Ctrl-C`);
const alive = setInterval(() => {}, 60_000);
for (const name of ["SIGINT", "SIGTERM"] as const) {
  process.once(name, () => void cluster.stop().finally(() => clearInterval(alive)));
}
