import { Readable } from "node:stream";

import { request } from "undici";

import { checkUrl } from "./check-url.ts";
import { OutboundError } from "./outbound-error.ts";
import type { Outbound } from "./outbound.ts";

export interface StreamLimits {
  /** Time until the response headers arrive, in milliseconds. */
  headersMs: number;
  /** Longest pause between two chunks of the body, in milliseconds. */
  bodyMs: number;
  /** Bytes of the response body. */
  maxBytes: number;
}

export interface StreamOptions {
  limits: StreamLimits;
  /** Aborts every request, besides the signal of its own caller. */
  signal: AbortSignal;
  /** Origins that may be called; a library that tries another one gets an error. */
  origins: ReadonlySet<string>;
  /** Filters the headers of a request; by default all are sent. */
  filterHeaders?: (headers: Headers) => void;
}

type Fetch = (input: string | URL | Request, init?: RequestInit) => Promise<Response>;

/**
 * Returns a guarded `fetch` for client libraries: the body of its response is streamed at the reader's pace, redirects
 * are returned unchanged, compressed responses are rejected, proxies of the environment are not used.
 *
 * Throws OutboundError, or the abort reason of a signal.
 */
export function createStreamFetch(outbound: Pick<Outbound, "policy" | "dispatcher">, options: StreamOptions): Fetch {
  const { limits, origins } = options;
  return async (input, init) => {
    const sent = isRequest(input) ? input : undefined;
    const url = checkUrl(outbound.policy, isRequest(input) ? input.url : input);
    if (!origins.has(url.origin)) {
      throw new OutboundError("blocked", `The client tried to call ${url.host}, which is not its connection's host.`);
    }
    const headers = new Headers(init?.headers ?? sent?.headers);
    for (const name of ["host", "connection", "content-length", "transfer-encoding"]) headers.delete(name);
    options.filterHeaders?.(headers);
    headers.set("accept-encoding", "identity");
    const signals = [options.signal, sent?.signal, init?.signal].filter((signal) => signal != null);
    const signal = AbortSignal.any(signals);
    let answer: Awaited<ReturnType<typeof request>>;
    try {
      answer = await request(url, {
        dispatcher: outbound.dispatcher,
        signal,
        method: (init?.method ?? sent?.method ?? "GET").toUpperCase() as "GET",
        headers: Object.fromEntries(headers),
        body: sent && init?.body === undefined ? Buffer.from(await sent.arrayBuffer()) : plainBody(init?.body),
        headersTimeout: limits.headersMs,
        bodyTimeout: limits.bodyMs,
      });
    } catch (error) {
      throw signal.aborted ? signal.reason : translate(error, url, limits);
    }
    return toResponse(answer, url, limits, signal);
  };
}

/** By its shape: Hono replaces the global class, of which requests that were made before are no instances. */
const isRequest = (input: string | URL | Request): input is Request =>
  typeof input === "object" && "url" in input && "arrayBuffer" in input;

function plainBody(body: RequestInit["body"]): string | Uint8Array | null {
  if (body == null || typeof body === "string" || body instanceof Uint8Array) return body ?? null;
  if (body instanceof ArrayBuffer) return new Uint8Array(body);
  if (body instanceof URLSearchParams) return body.toString();
  throw new OutboundError("network", "The client sent a body that is neither text nor bytes.");
}

function toResponse(
  { statusCode, headers, body }: Awaited<ReturnType<typeof request>>,
  url: URL,
  limits: StreamLimits,
  signal: AbortSignal,
): Response {
  const received = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    if (name === "content-length" || value === undefined) continue;
    for (const single of [value].flat()) received.append(name, single);
  }
  const encoding = received.get("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding !== "" && encoding !== "identity") {
    body.on("error", () => {}).destroy();
    throw new OutboundError("network", `${url.host} sent a compressed response that was not requested.`);
  }
  async function* pieces(): AsyncGenerator<Uint8Array> {
    let size = 0;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        size += chunk.length;
        if (size > limits.maxBytes)
          throw new OutboundError("too_large", `${url.host} sent more than ${limits.maxBytes} bytes.`);
        yield chunk;
      }
    } catch (error) {
      throw signal.aborted ? signal.reason : translate(error, url, limits);
    }
  }
  const bodiless = [204, 205, 304].includes(statusCode);
  if (bodiless) body.on("error", () => {}).destroy();
  const stream = bodiless
    ? null
    : (Readable.toWeb(Readable.from(pieces(), { objectMode: true, highWaterMark: 1 })) as ReadableStream);
  const response = new Response(stream, { status: statusCode, headers: received });
  Object.defineProperty(response, "url", { value: url.href });
  return response;
}

function translate(error: unknown, url: URL, limits: StreamLimits): Error {
  if (error instanceof OutboundError) return error;
  const { code = "", cause } = error as { code?: string; cause?: unknown };
  if (cause instanceof OutboundError) return cause;
  const late = (problem: string) => new OutboundError("timeout", `${url.host} ${problem}.`, error);
  if (code === "UND_ERR_CONNECT_TIMEOUT") return late("did not accept the connection in time");
  if (code === "UND_ERR_HEADERS_TIMEOUT") return late(`did not answer within ${limits.headersMs} ms`);
  if (code === "UND_ERR_BODY_TIMEOUT") return late(`sent nothing for ${limits.bodyMs} ms`);
  return new OutboundError("network", `${url.host} could not be called: ${code || "invalid response"}.`, error);
}
