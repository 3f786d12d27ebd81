/**
 * The console's types of the three spaces, generated from the OpenAPI documents of the running servers:
 *
 *     node --import tsx scripts/console-api.ts [--check]
 *
 * `--check` writes nothing and exits with 1 when a committed file differs from the servers' documents.
 */
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import openapiTS, { astToString } from "openapi-typescript";

import { startAgentServer, startControlServer, startTraceServer } from "../server/src/main.ts";

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const dataDir = await mkdtemp(join(tmpdir(), "heddle-console-api-"));
const place = { host: "127.0.0.1", port: 0, dataDir };
process.env["HEDDLE_LOG_LEVEL"] ??= "error";

const agent = await startAgentServer({ ...place, config: path("../examples/langgraph.json") });
const { database } = agent;
const trace = await startTraceServer({ ...place, database });
const control = await startControlServer({ ...place, database, launcher: path("../cli/bin/heddle.js") });
let stale = 0;
try {
  for (const [name, { url }] of Object.entries({ agent, trace, control })) {
    const document = await (await fetch(`${url}/openapi.json`)).text();
    const head = `/** What the ${name} server's OpenAPI document says. Written by scripts/console-api.ts. */\n`;
    const text = head + astToString(await openapiTS(JSON.parse(document) as Parameters<typeof openapiTS>[0]));
    const file = path(`../console/src/api/${name}.d.ts`);
    if (!process.argv.includes("--check")) await writeFile(file, text);
    else if ((await readFile(file, "utf8").catch(() => "")) !== text) {
      stale++;
      console.error(
        `console/src/api/${name}.d.ts is not what the server says. Run: node --import tsx scripts/console-api.ts`,
      );
    }
  }
} finally {
  await control.close();
  await trace.close();
  await agent.close();
  await rm(dataDir, { recursive: true, force: true });
}
process.exit(stale > 0 ? 1 : 0);
