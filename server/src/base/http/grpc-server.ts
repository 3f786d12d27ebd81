/**
 * gRPC over HTTP/2 in cleartext, for unary calls that an HTTP route answers: a message in, a message out. A call becomes
 * a request to that route, with the metadata as headers, so that authentication, limits and errors are the route's own;
 * the response becomes the message and the status. A message is passed on as it arrives, so the route reserves memory
 * for it before it is read.
 *
 * The frames are those of gRPC's "PROTOCOL-HTTP2.md": a byte that says whether the message is compressed, its length in
 * four bytes, and the message.
 */
import { createServer, type Http2Session, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo, Socket } from "node:net";

import { AppError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { ClientIpSettings } from "./client-ip.ts";
import { type ConnectionSettings, limitConnections, proxies } from "./connection-limits.ts";

/** Status codes of gRPC that this server sends. */
const GRPC = {
  ok: 0,
  cancelled: 1,
  unknown: 2,
  invalidArgument: 3,
  deadlineExceeded: 4,
  notFound: 5,
  permissionDenied: 7,
  resourceExhausted: 8,
  unimplemented: 12,
  internal: 13,
  unavailable: 14,
  unauthenticated: 16,
} as const;

export interface GrpcOptions {
  host: string;
  port: number;
  settings: ConnectionSettings & Pick<ClientIpSettings, "trustedProxies">;
  log: Log;
  /** Path of the HTTP route that answers a method, by `/package.Service/Method`. */
  methods: Readonly<Record<string, string>>;
  /** Content type of the messages towards the route. */
  contentType: string;
  fetch(request: Request, env: { incoming: unknown }): Response | Promise<Response>;
}

export interface GrpcServer {
  port: number;
  stopListening(): void;
  close(): Promise<void>;
}

const MAX_STREAMS = 100;
const IDLE_MS = 300_000;
const PREFIX_BYTES = 5;

export async function listenGrpc(options: GrpcOptions): Promise<GrpcServer> {
  const { settings, log } = options;
  const server = createServer({
    settings: { maxConcurrentStreams: MAX_STREAMS, maxHeaderListSize: settings.maxHeaderBytes },
    // bounds what a session buffers, in megabytes
    maxSessionMemory: 10,
  });
  limitConnections(server, settings, proxies(settings));
  // A session's own `socket` is a proxy that throws for some properties. Sessions are created while their connection's
  // event is emitted.
  let newest!: Socket;
  server.prependListener("connection", (socket: Socket) => (newest = socket));
  const sessions = new Map<Http2Session | undefined, Socket>();
  server.on("session", (session) => {
    sessions.set(session, newest);
    // a client that calls nothing holds its connection no longer than one that sends no headers
    const silent = setTimeout(() => session.destroy(), settings.headersTimeoutSecs * 1000).unref();
    session.once("stream", () => clearTimeout(silent));
    session.setTimeout(IDLE_MS, () => session.close());
    session.once("close", () => {
      clearTimeout(silent);
      sessions.delete(session);
    });
    session.on("error", () => session.destroy());
  });
  server.on("sessionError", () => {});
  server.on("stream", (stream, headers) => {
    stream.on("error", () => {});
    stream.setTimeout(settings.requestTimeoutSecs * 1000, () => stream.close());
    void answer(options, stream, headers, sessions.get(stream.session)).catch((error: unknown) => {
      // the client has left, and reading its message has failed
      if (stream.destroyed || stream.aborted) return;
      log.error({ err: error }, "a gRPC call failed");
      end(stream, { status: GRPC.internal, message: "Internal server error" });
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(options.port, options.host, resolve);
  });
  const stopListening = () => {
    server.close();
    for (const session of sessions.keys()) session?.close();
  };
  return {
    port: (server.address() as AddressInfo).port,
    stopListening,
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const session of sessions.keys()) session?.destroy();
      await closed.catch(() => {});
    },
  };
}

interface Status {
  status: number;
  message?: string;
  /** Seconds after which the client may repeat the call. */
  retryAfter?: number | undefined;
}

async function answer(
  options: GrpcOptions,
  stream: ServerHttp2Stream,
  headers: IncomingHttpHeaders,
  socket: Socket | undefined,
): Promise<void> {
  const type = headers["content-type"] ?? "";
  if (headers[":method"] !== "POST" || !/^application\/grpc(?:\+proto)?(?:;|$)/.test(type)) {
    stream.respond({ ":status": 415 }, { endStream: true });
    return;
  }
  const path = options.methods[headers[":path"] ?? ""];
  if (path === undefined) {
    return end(stream, { status: GRPC.unimplemented, message: `unknown method ${headers[":path"] ?? ""}` });
  }
  const encoding = headers["grpc-encoding"] ?? "identity";
  if (!ENCODINGS.includes(String(encoding))) {
    return end(stream, { status: GRPC.unimplemented, message: `grpc-encoding ${String(encoding)} is not supported` });
  }
  const message = await readMessage(stream);
  if (typeof message === "string") return end(stream, { status: GRPC.invalidArgument, message });
  if (message.isCompressed && encoding === "identity") {
    return end(stream, { status: GRPC.internal, message: "a compressed message without grpc-encoding" });
  }
  const cancel = new AbortController();
  stream.once("close", () => cancel.abort());
  const request = new Request(`http://grpc${path}`, {
    method: "POST",
    headers: requestHeaders(headers, options.contentType, message, String(encoding)),
    body: message.body,
    signal: cancel.signal,
    duplex: "half",
  } as RequestInit);
  const response = await options.fetch(request, { incoming: { socket } });
  const body = Buffer.from(await response.arrayBuffer());
  if (stream.destroyed) return;
  if (!response.ok) return end(stream, errorStatus(response, body));
  const prefix = Buffer.alloc(PREFIX_BYTES);
  prefix.writeUInt32BE(body.length, 1);
  end(stream, { status: GRPC.ok }, Buffer.concat([prefix, body]));
}

/** Encodings of messages, which are those of bodies too. */
const ENCODINGS = ["identity", "gzip", "deflate"];

/** Headers of gRPC and HTTP/2 that say nothing to the route. */
const OWN = /^(?::|grpc-|te$|connection$|host$|content-|transfer-encoding$|accept)/;

function requestHeaders(
  headers: IncomingHttpHeaders,
  contentType: string,
  message: Message,
  encoding: string,
): Headers {
  const passed = new Headers();
  for (const [name, value] of Object.entries(headers)) {
    // binary metadata is base64, of which no route reads anything
    if (OWN.test(name) || name.endsWith("-bin") || value === undefined) continue;
    for (const each of [value].flat()) passed.append(name, each);
  }
  passed.set("content-type", contentType);
  passed.set("content-length", String(message.length));
  if (message.isCompressed) passed.set("content-encoding", encoding);
  return passed;
}

interface Message {
  isCompressed: boolean;
  length: number;
  body: ReadableStream<Uint8Array>;
}

/** Reads the prefix of the only message. Resolves to the message, with its content unread, or to what is wrong. */
async function readMessage(stream: ServerHttp2Stream): Promise<Message | string> {
  const chunks = stream[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let start = Buffer.alloc(0);
  while (start.length < PREFIX_BYTES) {
    const { done, value } = await chunks.next();
    if (done) return "the call has no message";
    start = Buffer.concat([start, value]);
  }
  const length = start.readUInt32BE(1);
  let rest: Buffer | undefined = start.subarray(PREFIX_BYTES);
  let left = length;
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const chunk = rest ?? (await next());
        rest = undefined;
        if (chunk === undefined || chunk.length > left) {
          const problem = chunk ? "The call has more than one message." : "The call's message ended early.";
          controller.error(new AppError(400, problem));
          return;
        }
        left -= chunk.length;
        if (chunk.length > 0) controller.enqueue(Uint8Array.from(chunk));
        if (left === 0) controller.close();
        else if (chunk.length === 0) await this.pull!(controller);
      },
      async cancel() {
        await chunks.return?.();
      },
    },
    { highWaterMark: 0 },
  );
  const next = async (): Promise<Buffer | undefined> => {
    const { done, value } = await chunks.next();
    return done ? undefined : value;
  };
  return { isCompressed: start[0] === 1, length, body };
}

/** Codes by HTTP status. A client repeats a call only for `unavailable`, or if the status says when (RetryInfo). */
const CODES: Record<number, number> = {
  400: GRPC.invalidArgument,
  401: GRPC.unauthenticated,
  403: GRPC.permissionDenied,
  404: GRPC.notFound,
  408: GRPC.unavailable,
  413: GRPC.resourceExhausted,
  415: GRPC.invalidArgument,
  422: GRPC.invalidArgument,
  429: GRPC.resourceExhausted,
  500: GRPC.internal,
  502: GRPC.unavailable,
  503: GRPC.unavailable,
  504: GRPC.unavailable,
};

function errorStatus(response: Response, body: Buffer): Status {
  const status = CODES[response.status] ?? GRPC.unknown;
  const text = body.toString("utf8");
  const after = Number(response.headers.get("retry-after") ?? NaN);
  const isThrottled = response.status === 429 || response.status === 503;
  return {
    status,
    message: errorMessage(text),
    retryAfter: Number.isFinite(after) ? after : isThrottled ? 1 : undefined,
  };
}

function errorMessage(text: string): string {
  try {
    const { message, error, detail } = JSON.parse(text) as Record<string, unknown>;
    const found = [message, error, detail].find((value) => typeof value === "string");
    return (found as string | undefined) ?? text;
  } catch {
    return text;
  }
}

function end(stream: ServerHttp2Stream, status: Status, message?: Buffer): void {
  if (stream.destroyed || stream.closed) return;
  const trailers = {
    "grpc-status": String(status.status),
    ...(status.message !== undefined && { "grpc-message": percentEncode(status.message.slice(0, 2000)) }),
    ...(status.retryAfter !== undefined && { "grpc-status-details-bin": retryInfo(status, status.retryAfter) }),
  };
  const headers = { ":status": 200, "content-type": "application/grpc", "grpc-accept-encoding": ENCODINGS.join() };
  if (!message) {
    stream.respond({ ...headers, ...trailers }, { endStream: true });
    // a client that still sends is told to stop, once the headers are on their way: Node.js 26 drops them otherwise
    if (!stream.readableEnded) setImmediate(() => stream.close(0));
    return;
  }
  stream.respond(headers, { waitForTrailers: true });
  stream.once("wantTrailers", () => stream.sendTrailers(trailers));
  stream.end(message);
}

/** Encodes a status message: what is not printable ASCII, and `%`, as percent-encoded UTF-8. */
const percentEncode = (text: string): string =>
  Array.from(Buffer.from(text, "utf8"), (byte) =>
    byte >= 0x20 && byte <= 0x7e && byte !== 0x25
      ? String.fromCharCode(byte)
      : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`,
  ).join("");

/** Encodes google.rpc.Status with a RetryInfo, which tells the client when to repeat the call. */
function retryInfo({ status, message = "" }: Status, seconds: number): string {
  const field = (number: number, content: Buffer) =>
    Buffer.concat([Buffer.from([(number << 3) | 2]), varint(content.length), content]);
  const number = (id: number, value: number) => Buffer.concat([Buffer.from([id << 3]), varint(value)]);
  const delay = field(1, number(1, Math.ceil(seconds)));
  const any = [field(1, Buffer.from("type.googleapis.com/google.rpc.RetryInfo")), field(2, delay)];
  const text = Buffer.from(message.slice(0, 2000), "utf8");
  const encoded = Buffer.concat([number(1, status), field(2, text), field(3, Buffer.concat(any))]);
  return encoded.toString("base64");
}

function varint(value: number): Buffer {
  const bytes: number[] = [];
  let left = value;
  for (; left > 0x7f; left >>>= 7) bytes.push((left & 0x7f) | 0x80);
  bytes.push(left);
  return Buffer.from(bytes);
}
