import { Pool } from "undici";

/** Enough for the concurrent streams of every measurement; connections are opened as needed and kept alive. */
const CONNECTIONS = 128;
const HEADERS = { "content-type": "application/json" };

/** A received SSE event: its name and arrival time, in milliseconds of `performance.now()`. */
export interface Frame {
  event: string;
  at: number;
}

/** Client of the agent server's HTTP interface, as thin as possible: it shares two cores with the server. */
export class AgentClient {
  readonly url: string;
  #pool: Pool;

  constructor(url: string) {
    this.url = url;
    this.#pool = new Pool(url, {
      connections: CONNECTIONS,
      pipelining: 1,
      bodyTimeout: 120_000,
      headersTimeout: 120_000,
    });
  }

  close(): Promise<void> {
    return this.#pool.close();
  }

  async post<T = Record<string, unknown>>(path: string, body: unknown): Promise<T> {
    return JSON.parse(await this.text(path, body)) as T;
  }

  /** Returns the body's text; `body` makes it a POST. */
  async text(path: string, body?: unknown): Promise<string> {
    return (await this.#request(path, body)).text();
  }

  async #request(path: string, body: unknown) {
    const request =
      body === undefined ? { method: "GET" as const } : { method: "POST" as const, body: JSON.stringify(body) };
    const response = await this.#pool.request({ path, headers: HEADERS, ...request });
    if (response.statusCode < 300) return response.body;
    throw new Error(`${request.method} ${path}: ${response.statusCode} ${await response.body.text()}`);
  }

  /**
   * Receives an answer without keeping or decoding it, and returns its length in bytes. Decoding one of 80 MB at once
   * blocks this process for a tenth of a second.
   */
  async download(path: string, body?: unknown): Promise<number> {
    let bytes = 0;
    for await (const chunk of await this.#request(path, body)) bytes += (chunk as Buffer).length;
    return bytes;
  }

  async get<T = Record<string, unknown>>(path: string): Promise<T> {
    return JSON.parse(await this.text(path)) as T;
  }

  async newThread(): Promise<string> {
    const { thread_id } = await this.post<{ thread_id: string }>("/threads", {});
    return thread_id;
  }

  /** Runs the echo graph once and waits; throws unless the result is the echo. */
  async echo(threadId: string, assistant = "echo"): Promise<void> {
    const text = "hello";
    const values = await this.post<{ echo?: string }>(`/threads/${threadId}/runs/wait`, {
      assistant_id: assistant,
      input: { text },
    });
    if (values.echo !== text) throw new Error(`the echo graph answered ${JSON.stringify(values)}`);
  }

  /** Streams a run and reports each event by its name, as it arrives. */
  async stream(threadId: string, body: unknown, onFrame: (frame: Frame) => void): Promise<void> {
    let rest = "";
    for await (const chunk of await this.#request(`/threads/${threadId}/runs/stream`, body)) {
      const at = performance.now();
      rest += (chunk as Buffer).toString("utf8").replaceAll("\r\n", "\n");
      let end: number;
      while ((end = rest.indexOf("\n\n")) >= 0) {
        const name = /^event: ?(.*)$/m.exec(rest.slice(0, end));
        rest = rest.slice(end + 2);
        if (name) onFrame({ event: name[1]!, at });
      }
    }
  }
}
