import { url } from "./clients.ts";

export interface Answer {
  status: number;
  headers: Headers;
  text: string;
  // oxlint-disable-next-line no-explicit-any -- tests look into bodies of any shape
  json: any;
}

/** Sends one plain HTTP request. `body` is sent as JSON; a string is sent unchanged. */
export async function request(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const init: RequestInit = { method, headers };
  if (body !== undefined) {
    init.body = typeof body === "string" ? body : JSON.stringify(body);
    init.headers = { "content-type": "application/json", ...headers };
  }
  const response = await fetch(url + path, init);
  const text = await response.text();
  return { status: response.status, headers: response.headers, text, json: parse(text) };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

export interface Frame {
  id?: string;
  event: string;
  // oxlint-disable-next-line no-explicit-any -- see above
  data: any;
}

export interface EventSource {
  response: Response;
  frames: AsyncGenerator<Frame>;
  /** Comment lines so far, including heartbeats. */
  comments: string[];
  close(): void;
}

/** Opens a server-sent event stream without any client library, so that every byte counts. */
export async function openStream(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
): Promise<EventSource> {
  const abort = new AbortController();
  const init: RequestInit = { method, headers, signal: abort.signal };
  if (body !== undefined) {
    init.body = JSON.stringify(body);
    init.headers = { "content-type": "application/json", ...headers };
  }
  const response = await fetch(url + path, init);
  const comments: string[] = [];
  return { response, comments, frames: readFrames(response, comments), close: () => abort.abort() };
}

async function* readFrames(response: Response, comments: string[]): AsyncGenerator<Frame> {
  let pending = "";
  const decoder = new TextDecoder();
  for await (const bytes of response.body as unknown as AsyncIterable<Uint8Array>) {
    pending += decoder.decode(bytes, { stream: true });
    const blocks = pending.split(/\r?\n\r?\n/);
    pending = blocks.pop()!;
    for (const block of blocks) {
      const frame = readFrame(block.split(/\r?\n/), comments);
      if (frame) yield frame;
    }
  }
}

function readFrame(lines: string[], comments: string[]): Frame | undefined {
  const frame: Frame = { event: "", data: undefined };
  for (const line of lines) {
    const [, field, value] = /^([^:]*): ?(.*)$/.exec(line) ?? [];
    if (field === "") comments.push(value!);
    else if (field === "id") frame.id = value!;
    else if (field === "event") frame.event = value!;
    else if (field === "data") frame.data = JSON.parse(value!);
  }
  return frame.event ? frame : undefined;
}
