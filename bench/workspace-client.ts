import { Pool } from "undici";

import { multipartBody } from "./ingest-load.ts";

export interface Answer {
  id: string;
  tenant_id: string;
  status: string;
}

export interface Credentials {
  /** Base URL of the trace platform. */
  url: string;
  key: string;
  workspaceId: string;
  connections: number;
}

/** Client of one workspace. Responses for overload (429, 503) are counted and are not failures. */
export class WorkspaceClient {
  readonly #pool: Pool;
  readonly #headers: Record<string, string>;
  rejected = 0;

  constructor({ url, key, workspaceId, connections }: Credentials) {
    this.#pool = new Pool(url, { connections });
    this.#headers = { "x-api-key": key, "x-tenant-id": workspaceId };
  }

  async ask(method: "GET" | "POST", path: string, body?: object): Promise<Answer> {
    const type = { "content-type": "application/json" };
    return await this.#send(method, path, type, body && JSON.stringify(body));
  }

  async ingest({ body, type } = multipartBody("bench")): Promise<void> {
    await this.#send("POST", "/runs/multipart", { "content-type": type }, body);
  }

  async #send(
    method: "GET" | "POST",
    path: string,
    more: Record<string, string>,
    body?: string | Buffer,
  ): Promise<Answer> {
    const headers = { ...this.#headers, ...more };
    const response = await this.#pool.request({
      method,
      path,
      headers,
      ...(body && { body }),
      headersTimeout: 120_000,
    });
    const text = await response.body.text();
    if (response.statusCode === 429 || response.statusCode === 503) this.rejected++;
    else if (response.statusCode >= 400 && response.statusCode !== 422)
      throw new Error(`${method} ${path}: ${response.statusCode} ${text}`);
    return (text.startsWith("{") ? JSON.parse(text) : {}) as Answer;
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
