import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { type AgentServer, type AgentServerOptions, startAgentServer } from "../src/agent/agent-server.ts";
import { readProject } from "../src/agent/project/read-project.ts";
import { agentOptions } from "../src/agent/settings.ts";
import { createAgentApp } from "../src/agent-app.ts";
import { readOptions } from "../src/base/config/options.ts";
import type { Sql } from "../src/base/db/connect.ts";
import { createLog, type Log } from "../src/base/log.ts";
import { atEnd } from "./at-end.ts";
import { type Call, createCaller } from "./call.ts";
import { type TestDatabase, testDatabase } from "./db.ts";
import { openGuard } from "./principal.ts";

const PROJECT = fileURLToPath(new URL("fixtures/agent-project/langgraph.json", import.meta.url));

/**
 * Whole agent server with a real graph host on a separate database, called without a port:
 *
 *     const server = await testAgentServer();
 *     const { status, json } = await server.call("POST", "/threads", { metadata: {} });
 */
export interface TestAgentServer {
  agent: AgentServer;
  sql: Sql;
  call: Call;
  /** Stops it before the file's tests are over. */
  stop: () => Promise<void>;
}

/** `db`: a database to share with another server, or to reuse from an earlier one. */
export async function testAgentServer(
  env: Record<string, string> = {},
  project = PROJECT,
  options: {
    db?: TestDatabase;
    reload?: boolean;
    log?: Log;
    internalUrl?: string;
    onGraphs?: AgentServerOptions["onGraphs"];
  } = {},
): Promise<TestAgentServer> {
  const db = options.db ?? (await testDatabase());
  const dataDir = mkdtempSync(join(tmpdir(), "heddle-agent-"));
  const settings = readOptions(agentOptions, { HEDDLE_HOSTS: "1", HEDDLE_LOG_LEVEL: "error", ...env });
  const agent = await startAgentServer({
    settings,
    log: options.log ?? createLog(settings.logLevel),
    project: await readProject(project),
    database: { uri: db.uri, socket: db.options.host ?? null },
    dataDir,
    internalUrl: options.internalUrl ?? "http://127.0.0.1:1",
    reload: options.reload ?? false,
    openLoopback: true,
    onGraphs: options.onGraphs ?? (() => {}),
  });
  let stopped: Promise<void> | undefined;
  const stop = () => (stopped ??= agent.stop());
  atEnd(async () => {
    await stop();
    rmSync(dataDir, { recursive: true, force: true });
  });
  const call = createCaller(createAgentApp(agent.deps, openGuard));
  return { agent, sql: db.sql, call, stop };
}
