/** Endpoint of the kubelet's API that the API server calls for the subresource `log` of a pod. */
import { createReadStream, existsSync, readFileSync, statSync } from "node:fs";
import type { ServerResponse } from "node:http";
import { createServer, type Server } from "node:https";
import type { AddressInfo } from "node:net";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";

import type { Certificate } from "./certificates.ts";
import type { ContainerRunner } from "./container-runner.ts";

const POLL_MS = 100;

/** Starts the server, which only accepts clients with a certificate of the cluster's authority. */
export async function startKubeletServer(
  certificate: Certificate,
  ca: string,
  findContainer: (namespace: string, pod: string, container: string) => ContainerRunner | undefined,
): Promise<{ port: number; server: Server }> {
  const server = createServer(
    {
      cert: readFileSync(certificate.certFile),
      key: readFileSync(certificate.keyFile),
      ca,
      requestCert: true,
      rejectUnauthorized: true,
    },
    (request, response) => {
      const url = new URL(request.url ?? "/", "https://kubelet");
      const [, action, namespace = "", pod = "", container = ""] = url.pathname.split("/");
      const runner = action === "containerLogs" ? findContainer(namespace, pod, container) : undefined;
      if (!runner) {
        response.writeHead(404).end(`container ${namespace}/${pod}/${container} is not on this node\n`);
        return;
      }
      void sendLog(runner, url.searchParams, response).catch(() => response.destroy());
    },
  );
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return { port: (server.address() as AddressInfo).port, server };
}

interface LogLine {
  time: string;
  text: string;
}

async function sendLog(runner: ContainerRunner, query: URLSearchParams, response: ServerResponse): Promise<void> {
  const isPrevious = query.get("previous") === "true";
  const file = runner.logFile(isPrevious);
  if (isPrevious && !existsSync(file)) {
    response.writeHead(400).end("previous terminated container not found\n");
    return;
  }
  response.writeHead(200, { "content-type": "text/plain" });
  response.flushHeaders();
  const since = sinceTime(query);
  const hasTime = query.get("timestamps") === "true";
  let left = Number(query.get("limitBytes") ?? Infinity);
  const write = ({ time, text }: LogLine) => {
    if (left <= 0 || (since !== undefined && Date.parse(time) < since)) return;
    const bytes = Buffer.from(hasTime ? `${time} ${text}` : text).subarray(0, left);
    left -= bytes.length;
    response.write(bytes);
  };
  let { lines, position } = await readLog(file, 0);
  const tail = query.get("tailLines");
  for (const line of tail === null ? lines : lastLines(lines, Number(tail))) write(line);
  while (query.get("follow") === "true" && !response.destroyed && left > 0) {
    const isOver = !runner.isRunning || runner.logFile(false) !== file;
    ({ lines, position } = await readLog(file, position));
    for (const line of lines) write(line);
    if (isOver) break;
    await sleep(POLL_MS);
  }
  response.end();
}

function sinceTime(query: URLSearchParams): number | undefined {
  const time = query.get("sinceTime");
  const seconds = query.get("sinceSeconds");
  return time !== null ? Date.parse(time) : seconds !== null ? Date.now() - Number(seconds) * 1000 : undefined;
}

const lastLines = (lines: LogLine[], count: number): LogLine[] => (count === 0 ? [] : lines.slice(-count));

/** Reads the complete lines from `position`, in the format of the container runtime interface. */
async function readLog(file: string, position: number): Promise<{ lines: LogLine[]; position: number }> {
  if (!existsSync(file) || statSync(file).size <= position) return { lines: [], position };
  const lines: LogLine[] = [];
  const end = completeEnd(file);
  if (end <= position) return { lines, position };
  for await (const line of createInterface({ input: createReadStream(file, { start: position, end: end - 1 }) })) {
    const match = /^(\S+) (?:stdout|stderr) ([FP]) ?(.*)$/s.exec(line);
    if (match) lines.push({ time: match[1]!, text: match[2] === "F" ? `${match[3]}\n` : match[3]! });
  }
  return { lines, position: end };
}

/** Offset after the last line feed. */
function completeEnd(file: string): number {
  const bytes = readFileSync(file);
  return bytes.lastIndexOf(10) + 1;
}
