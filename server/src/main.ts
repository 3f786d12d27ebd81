/** The agent server as a program: database, server, HTTP; and the way back. */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { getRequestListener } from "@hono/node-server";

import type { GraphStatus } from "../../graph-host/src/protocol.ts";
import { startAgentServer as startAgent } from "./agent/agent-server.ts";
import { readProject } from "./agent/hosts/project.ts";
import { agentOptions, type AgentSettings } from "./agent/settings.ts";
import { createAgentApp } from "./app.ts";
import { readOptions } from "./base/config/options.ts";
import { openDatabase } from "./base/db/open-database.ts";
import { createLog } from "./base/log.ts";
import { openDoor as openGuard } from "./identity/open-door.ts";

export interface StartSettings {
  /** Path of langgraph.json. */
  config: string;
  host: string;
  /** 0 for any free one. */
  port: number;
  dataDir: string;
  /** Postgres by URL; the embedded one when absent. */
  databaseUri?: string | undefined;
  reload?: boolean | undefined;
  jobs?: number | undefined;
  /** Told when graphs were loaded, at start and after each change. */
  onGraphs?: (graphs: Record<string, GraphStatus>) => void;
}

export interface RunningServer {
  url: string;
  /** Which graphs loaded and which did not, with the reason; resolves when the first host is ready. */
  graphs: Promise<Record<string, GraphStatus>>;
  warnings: string[];
  close(): Promise<void>;
}

/** Resolves when requests are answered; graphs may still be loading. */
export async function startAgentServer(settings: StartSettings): Promise<RunningServer> {
  const overrides: Partial<AgentSettings> = {};
  if (settings.jobs !== undefined) Object.assign(overrides, { jobs: settings.jobs });
  if (settings.reload !== undefined) Object.assign(overrides, { reload: settings.reload });
  const options = readOptions(agentOptions, process.env, overrides);
  const log = createLog(options.logLevel);
  const project = await readProject(settings.config);

  let handler: ReturnType<typeof getRequestListener> | undefined;
  const http = createServer(
    { requestTimeout: 300_000, headersTimeout: 30_000, keepAliveTimeout: 75_000 },
    (request, response) => {
      if (handler) void handler(request, response);
      else response.writeHead(503, { "Retry-After": "1" }).end("Starting.");
    },
  );
  // first the port: when it is taken, nothing else was touched
  await new Promise<void>((resolve, reject) => {
    http.once("error", reject);
    http.listen(settings.port, settings.host, resolve);
  });
  const { address, port } = http.address() as AddressInfo;
  const url = `http://${urlHost(settings.host || address)}:${port}`;

  let graphsReady: (graphs: Record<string, GraphStatus>) => void;
  const graphs = new Promise<Record<string, GraphStatus>>((resolve) => (graphsReady = resolve));
  try {
    const database = await openDatabase({ dataDir: settings.dataDir, uri: settings.databaseUri, log });
    const agent = await startAgent({
      settings: options,
      log,
      project,
      database: database.address,
      dataDir: settings.dataDir,
      internalUrl: url,
      reload: options.reload,
      onGraphs(loaded) {
        graphsReady(loaded);
        settings.onGraphs?.(loaded);
      },
    }).catch(async (error: unknown) => {
      await database.close();
      throw error;
    });
    const guard = openGuard({ organizationId: "", workspaceId: "", plan: "enterprise" });
    handler = getRequestListener(createAgentApp(agent.deps, guard).fetch);
    return {
      url,
      graphs,
      warnings: [...project.warnings, ...openDoor(settings.host)],
      async close() {
        const closed = new Promise((resolve) => http.close(resolve));
        await agent.stop();
        http.closeAllConnections();
        await closed;
        await database.close();
      },
    };
  } catch (error) {
    http.close();
    throw error;
  }
}

/** An address that listens everywhere is reached on loopback; IPv6 wants brackets. */
function urlHost(host: string): string {
  if (host === "0.0.0.0" || host === "::") return "127.0.0.1";
  return host.includes(":") ? `[${host}]` : host;
}

/** Keys are not built yet, so whoever reaches the port may do everything. */
function openDoor(host: string): string[] {
  if (/^(127\.|localhost$|::1$)/.test(host)) return [];
  return [`Listening on ${host} without keys: everybody who reaches this port can read and run everything.`];
}
