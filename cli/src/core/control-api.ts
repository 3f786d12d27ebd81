import { setTimeout as sleep } from "node:timers/promises";

import { parseBaseUrl, describeFailure } from "./reach.ts";

/** Fields of a deployment that commands read. */
export interface DeploymentOnWire {
  id: string;
  name: string;
  status: string;
  source: string;
  source_config: { custom_url: string | null; resource_spec: Record<string, unknown> | null };
  /** With masked values, which keep the stored ones when they are sent back. */
  secrets: { name: string; value: string }[];
  latest_revision_id: string | null;
  active_revision_id: string | null;
  updated_at: string;
}

export interface RevisionOnWire {
  id: string;
  status: string;
  status_message: string | null;
  created_at: string;
}

export interface LogEntryOnWire {
  id: string;
  timestamp: number;
  level: string;
  message: string;
}

interface Issue {
  loc: (string | number)[];
  msg: string;
}

/** An error response, with the control plane's message. */
export class ControlError extends Error {
  override name = "ControlError";
  readonly status: number;
  readonly issues: Issue[];

  constructor(status: number, message: string, issues: Issue[] = []) {
    super(message);
    this.status = status;
    this.issues = issues;
  }
}

/** The server did not answer. */
class UnreachableError extends Error {
  override name = "UnreachableError";
}

const UNAVAILABLE = new Set([502, 503, 504]);

/** Whether the control plane, or a service it needs, is temporarily unavailable. */
export const isUnavailable = (error: unknown): boolean =>
  error instanceof UnreachableError || (error instanceof ControlError && UNAVAILABLE.has(error.status));
const AGAIN_MS = 500;

/** Client of the control plane over HTTP. */
export class ControlApi {
  readonly url: string;
  readonly #key: string | undefined;

  constructor(url: string, key: string | undefined) {
    this.url = parseBaseUrl(url);
    this.#key = key;
  }

  async send<T>(method: string, path: string, body?: object): Promise<T> {
    let response: Response;
    try {
      response = await fetch(this.url + path, {
        method,
        headers: {
          ...(body && { "Content-Type": "application/json" }),
          ...(this.#key !== undefined && { "x-api-key": this.#key }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
    } catch (error) {
      const message = `There is no control plane at ${this.url}. Start one with heddle up, or name it with --url.`;
      throw new UnreachableError(`${message} (${describeFailure(error)})`, { cause: error });
    }
    const text = await response.text();
    if (!response.ok) throw toControlError(response.status, text);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  }

  /** Sends a read-only request; retries while the control plane or its database is unavailable, for at most `forMs`. */
  async read<T>(method: string, path: string, body?: object, forMs = 60_000): Promise<T> {
    for (const deadline = performance.now() + forMs; ; await sleep(AGAIN_MS)) {
      try {
        return await this.send<T>(method, path, body);
      } catch (error) {
        if (!isUnavailable(error) || performance.now() > deadline) throw error;
      }
    }
  }

  /** Finds a deployment by name or id; throws when there is none. */
  async find(nameOrId: string): Promise<DeploymentOnWire> {
    if (/^[0-9a-f]{8}-[0-9a-f-]{27}$/i.test(nameOrId)) return this.send("GET", `/v2/deployments/${nameOrId}`);
    const found = await this.findByName(nameOrId);
    if (!found) throw new Error(`There is no deployment ${nameOrId}. To list them: heddle deployments`);
    return found;
  }

  async findByName(name: string): Promise<DeploymentOnWire | undefined> {
    const query = new URLSearchParams({ name, limit: "1" });
    const page = await this.send<{ resources: DeploymentOnWire[] }>("GET", `/v2/deployments?${query.toString()}`);
    return page.resources[0];
  }
}

function toControlError(status: number, text: string): ControlError {
  let detail: unknown;
  try {
    detail = (JSON.parse(text) as { detail: unknown }).detail;
  } catch {
    detail = text.slice(0, 500);
  }
  if (!Array.isArray(detail)) return new ControlError(status, `${status} ${String(detail)}`);
  const issues = detail as Issue[];
  const described = issues.map(({ loc, msg }) => `${loc.slice(1).join(".")}: ${msg.replace(/^Value error, /, "")}`);
  return new ControlError(status, described.join("; "), issues);
}
