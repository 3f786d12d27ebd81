/**
 * An exporting trace platform, as a process to be killed: chDB in its data directory, Postgres and the store outside.
 * `HEDDLE_FAULT_POINTS` names the points where it dies. It takes requests as lines of JSON, `[method, path, body]`, and
 * answers each with a line, `[status, text]`; its first line reports that it is ready.
 */
import { createInterface } from "node:readline";

import { createTraceApp } from "../../server/src/trace-app.ts";
import { readOptions } from "../../server/src/base/config/options.ts";
import { createLog } from "../../server/src/base/log.ts";
import { secretsOptions } from "../../server/src/base/secrets/settings.ts";
import { identityOptions } from "../../server/src/identity/settings.ts";
import { traceOptions } from "../../server/src/trace/settings.ts";
import { startTracePlatform } from "../../server/src/trace/trace-platform.ts";
import { createCaller } from "../../server/test/call.ts";
import { openGuard } from "../../server/test/principal.ts";

const { DATABASE: uri, DATA_DIR: dataDir, ...env } = process.env;
const settings = readOptions({ ...traceOptions, ...identityOptions, ...secretsOptions }, env);
const log = createLog(settings.logLevel);
const { deps } = await startTracePlatform({ settings, log, database: { uri: uri!, socket: null }, dataDir: dataDir! });
const call = createCaller(createTraceApp(deps, openGuard));
const say = (line: unknown) => process.stdout.write(`${JSON.stringify(line)}\n`);
say("ready");
for await (const line of createInterface({ input: process.stdin })) {
  const [method, path, body] = JSON.parse(line) as [string, string, unknown];
  const { status, text } = await call(method, path, body ?? undefined);
  say([status, text]);
}
// the parent process is gone
process.exit(0);
