/**
 * Small client of the Kubernetes API for the test cluster: JSON over TLS with a client certificate. It is separate from
 * the server's API client, so that tests do not share its defects.
 */
import type { IncomingMessage } from "node:http";
import { Agent, request } from "node:https";
import { setTimeout as sleep } from "node:timers/promises";

export interface Credentials {
  /** `https://host:port`. */
  server: string;
  /** PEM. */
  ca: string;
  cert: string;
  key: string;
}

export interface ObjectMeta {
  name: string;
  namespace?: string;
  uid: string;
  resourceVersion: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
}

export interface KubeObject {
  metadata: ObjectMeta;
}

export class KubeError extends Error {
  override name = "KubeError";
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
}

/** Content types of PATCH. */
export const MERGE_PATCH = "application/merge-patch+json";
export const STRATEGIC_PATCH = "application/strategic-merge-patch+json";
export const APPLY_PATCH = "application/apply-patch+yaml";

const CALL_MS = 15_000;
const RETRY_MS = 300;

export class KubeClient {
  readonly server: string;
  readonly #agent: Agent;

  constructor({ server, ca, cert, key }: Credentials) {
    this.server = server;
    this.#agent = new Agent({ ca, cert, key, keepAlive: true, maxFreeSockets: 8 });
  }

  close(): void {
    this.#agent.destroy();
  }

  /** Returns the parsed response. Throws KubeError with the server's message, or the connection's error. */
  async call<T>(method: string, path: string, body?: unknown, type = "application/json"): Promise<T> {
    const signal = AbortSignal.timeout(CALL_MS);
    const text = await readText(await this.open(method, path, { body, type, signal }));
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** Returns the successful response with its body unread. Throws KubeError. */
  async open(
    method: string,
    path: string,
    options: { body?: unknown; type?: string; signal?: AbortSignal } = {},
  ): Promise<IncomingMessage> {
    const { type = "application/json", signal } = options;
    const body = options.body === undefined ? undefined : Buffer.from(JSON.stringify(options.body));
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      const sent = request(this.server + path, {
        method,
        agent: this.#agent,
        headers: {
          accept: "application/json",
          // explicit length: Node sends none with a DELETE
          ...(body && { "content-type": type, "content-length": body.length }),
        },
        ...(signal && { signal }),
      });
      sent.on("response", (answer) => {
        answer.on("error", () => {});
        resolve(answer);
      });
      sent.on("error", reject);
      sent.end(body);
    });
    if (response.statusCode! < 400) return response;
    const text = await readText(response);
    throw new KubeError(response.statusCode!, `${method} ${path}: ${statusMessage(text)}`);
  }

  /**
   * Lists the objects at `path`, then follows their changes until the signal aborts. Lists them again after each lost
   * connection, and passes them to `onList`.
   */
  async follow<T extends KubeObject>(
    path: string,
    handlers: { onList(items: T[]): void; onEvent(type: "ADDED" | "MODIFIED" | "DELETED", item: T): void },
    signal: AbortSignal,
  ): Promise<void> {
    const join = path.includes("?") ? "&" : "?";
    while (!signal.aborted) {
      try {
        const list = await this.call<{ metadata: { resourceVersion: string }; items: T[] }>("GET", path);
        if (signal.aborted) return;
        handlers.onList(list.items);
        const query = `watch=true&timeoutSeconds=300&resourceVersion=${list.metadata.resourceVersion}`;
        const response = await this.open("GET", `${path}${join}${query}`, { signal });
        for await (const line of readLines(response)) {
          const event = JSON.parse(line) as { type: "ADDED" | "MODIFIED" | "DELETED" | "ERROR"; object: T };
          if (event.type === "ERROR") break;
          handlers.onEvent(event.type, event.object);
        }
        response.destroy();
      } catch {
        // listed again below
      }
      await sleep(RETRY_MS, undefined, { signal }).catch(() => {});
    }
  }
}

async function readText(response: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of response as AsyncIterable<Buffer>) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}

async function* readLines(response: IncomingMessage): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const chunk of response as AsyncIterable<Buffer>) {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split("\n");
    rest = lines.pop()!;
    yield* lines;
  }
}

function statusMessage(text: string): string {
  try {
    return (JSON.parse(text) as { message?: string }).message ?? text;
  } catch {
    return text;
  }
}
