import { existsSync } from "node:fs";
import { get } from "node:http";
import { createServer } from "node:net";
import { join } from "node:path";

import { installedRoles } from "../../base/installed-roles.ts";
import { LIVE } from "../../base/health.ts";
import { failure, type Findings, ok, reason, skipped, warning } from "./finding.ts";
import type { DoctorTarget, PortName } from "./read-settings.ts";

/** Time for a server that starts, or is busy, to answer. */
const ANSWER_MS = 10_000;

const SERVERS: Record<PortName, { title: string; flag: string }> = {
  agent: { title: "agent server", flag: "--port" },
  trace: { title: "trace platform", flag: "--trace-port" },
  control: { title: "control plane", flag: "--control-port" },
  gateway: { title: "gateway", flag: "--gateway-port" },
  console: { title: "console", flag: "--console-port" },
};

/** Whether a server belongs to the installation. */
type Standing = "installed" | "possible" | "absent";

/**
 * Checks that the port of each server of the installation is free, or that Heddle itself listens on it. A taken port of
 * a server that may or may not belong to it is no error.
 */
export async function* checkPorts(target: DoctorTarget): Findings {
  const { host, ports } = target;
  const standingOf = readStanding(target);
  for (const [name, port] of Object.entries(ports) as [PortName, number][]) {
    const { title, flag } = SERVERS[name];
    const check = `port.${name}`;
    const standing = standingOf(name);
    if (port === 0) continue;
    if (standing === "absent") {
      yield skipped(check, `No ${title} belongs to this installation.`);
      continue;
    }
    const problem = await tryListen(host, port);
    const isTaken = problem?.code === "EADDRINUSE";
    const listener = isTaken ? await identify(host, port) : "other";
    if (problem === undefined) yield ok(check, `Port ${port} is free.`);
    else if (listener === "heddle") yield ok(check, `A server of Heddle listens on port ${port}.`);
    else {
      const found = isTaken ? TAKEN[listener](port) : `${host}:${port} cannot be opened: ${reason(problem)}.`;
      const choose = standing === "installed" ? "Choose" : `If a ${title} is to run here, choose`;
      const advice =
        problem.code === "EADDRNOTAVAIL"
          ? "Set --host (HEDDLE_HOST) to an address of this machine."
          : `${choose} another port with ${flag}.`;
      const isError = standing === "installed" && listener !== "silent";
      yield isError ? failure(check, found, advice) : warning(check, found, advice);
    }
  }
}

const TAKEN = {
  other: (port: number) => `Another program listens on port ${port}.`,
  silent: (port: number) => `The program that listens on port ${port} does not answer. Is it a server that is busy?`,
};

/** Reads which servers have run on the data directory, unless the caller names them. */
function readStanding({ dataDir, wanted, hasAllRoles }: DoctorTarget): (name: PortName) => Standing {
  const roles: ReadonlySet<string> = installedRoles(dataDir);
  // 0.6 and earlier left no marks
  const hasControl = roles.size === 0 && existsSync(join(dataDir, "control"));
  const found = new Set(hasControl ? ["control", "trace"] : roles);
  return (name) => {
    if (wanted.has(name)) return "installed";
    if (hasAllRoles) return "absent";
    if (found.has(name) || (name === "agent" && found.has("worker"))) return "installed";
    if (name === "gateway") return "absent";
    // heddle up and heddle dev run without it
    return found.size === 0 || name === "console" ? "possible" : "absent";
  };
}

function tryListen(host: string, port: number): Promise<NodeJS.ErrnoException | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", resolve);
    server.listen({ host, port, exclusive: true }, () => server.close(() => resolve(undefined)));
  });
}

/** Recognizes servers of Heddle by their liveness, which needs no key, also while they start. */
async function identify(host: string, port: number): Promise<"heddle" | keyof typeof TAKEN> {
  const address = /^(0\.0\.0\.0|::|)$/.test(host) ? "127.0.0.1" : host;
  const body = await ask(address, port, "/livez");
  if (body === undefined) return "silent";
  return body === JSON.stringify(LIVE) ? "heddle" : "other";
}

/** Returns the beginning of an HTTP response's body; empty for what is no HTTP, undefined when nothing is answered. */
function ask(host: string, port: number, path: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    let body = "";
    const request = get({ host, port, path, agent: false }, (response) => {
      response.setEncoding("utf8");
      response.on("data", (chunk: string) => {
        body += chunk;
        if (body.length > 10_000) end(body);
      });
      response.on("close", () => end(body));
    });
    const timeout = setTimeout(() => end(undefined), ANSWER_MS);
    function end(result: string | undefined) {
      clearTimeout(timeout);
      request.destroy();
      resolve(result);
    }
    request.on("error", () => end(""));
  });
}
