import type { Context, MiddlewareHandler } from "hono";

import { AppError } from "../errors.ts";
import { JsonStructure, MAX_DEPTH, type StructureLimit } from "../json-structure.ts";
import type { BodyGate, BodyReservation } from "./body-gate.ts";

/** Largest body of a route without authentication. */
export const PUBLIC_BODY_BYTES = 64 * 1024;

/**
 * A body with a declared length up to this is counted at once and read the fast way. Connections bound their number.
 */
const SMALL_BYTES = 16 * 1024;

/** Body limits of a space. */
export interface BodyLimits {
  /** Largest body; a larger one gets 413. */
  maxBytes: number;
  /** Environment variable that sets `maxBytes`, which the error names. */
  setting?: string | undefined;
  gate: BodyGate;
}

interface Limit {
  maxBytes: number;
  setting?: string | undefined;
  isPublic: boolean;
  /**
   * Whether a declared body is JSON, which is decompressed here and whose structure is counted. Routes that read their
   * own bodies do so themselves.
   */
  isJson?: boolean;
}

/** Encodings of request bodies, by the name of `Content-Encoding`. */
const FORMATS: Record<string, CompressionFormat> = { gzip: "gzip", "x-gzip": "gzip", deflate: "deflate" };

const HELD = "heddle.bodyHeld";
const STRUCTURE = "heddle.bodyStructure";

/** What is known of the structure of a request's body. */
interface Known {
  limit: StructureLimit;
  /** Whether it was counted while it arrived. */
  isCounted: boolean;
  /** Reserves memory for it. */
  use: (bytes: number) => Promise<void>;
}

/** Limit of bodies that are not held, such as those of tests. */
const ANY: StructureLimit = { maxBytes: 64 * 1024 * 1024, maxDepth: MAX_DEPTH };

/**
 * Counts the structure of a JSON body before it is decoded, unless it was counted while it arrived. @throws 413 when it
 * would take too much memory, 422 when it is nested too deep, 503 when there is no room
 */
export async function countBody(c: Context, text: string): Promise<void> {
  const known = c.get(STRUCTURE) as Known | undefined;
  if (known?.isCounted) return;
  const structure = new JsonStructure(known?.limit ?? ANY);
  structure.add(Buffer.from(text));
  await known?.use(structure.weight);
}

/**
 * Counts a request's body until the returned function is called, and limits it: by its declared length, or else while
 * it is read. Reads nothing itself.
 * @returns undefined when there is no body. @throws 413 when it is too large, 503 when there is no room
 */
export function holdBody(
  c: Context,
  gate: BodyGate,
  { maxBytes, setting, isPublic, isJson = false }: Limit,
): (() => void) | Promise<() => void> | undefined {
  if (c.req.method === "GET" || c.req.method === "HEAD") return undefined;
  const declared = c.req.header("content-length");
  const length = Number(declared ?? 0);
  const tooLarge = () => new BodyTooLargeError(maxBytes, setting);
  if (length > maxBytes) throw tooLarge();
  if (!hasBody(c, declared)) return undefined;
  const format = isJson ? compression(c) : undefined;
  if (c.get(HELD) === true) {
    if (format) unpackHeld(c, format, { maxBytes, tooLarge, isPublic });
    return undefined;
  }
  c.set(HELD, true);
  const known: Known = { limit: { maxBytes, setting, maxDepth: MAX_DEPTH }, isCounted: false, use: async () => {} };
  c.set(STRUCTURE, known);
  if (!isPublic && declared !== undefined && length <= SMALL_BYTES && !c.req.header("content-encoding")) {
    const release = () => gate.budget.give(length);
    return gate.budget.take(length) ? release : gate.reserve(length).then(() => release);
  }
  let reject = (_: AppError): void => {};
  const reservation = (isPublic ? gate.holdPublic : gate.hold).call(gate, (error) => reject(error));
  // what the public budget holds bounds the structure too
  if (!isPublic) known.use = (bytes) => reservation.use(bytes);
  known.isCounted = isJson;
  const { raw } = c.req;
  const open = () => (format ? decompressed(raw.body!, format) : raw.body!);
  const structure = isJson ? new JsonStructure(known.limit) : undefined;
  const { body, fail } = counted(open, { maxBytes, tooLarge, structure, isPublic }, reservation, format !== undefined);
  reject = fail;
  c.req.raw = new Request(raw, { body, duplex: "half" } as RequestInit);
  return () => reservation.end();
}

/** Decompresses a body for a route: middleware holds it, and the project's own code was to read it as it was sent. */
function unpackHeld(c: Context, format: CompressionFormat, limits: Omit<CountedLimits, "structure">): void {
  const { raw } = c.req;
  const known = c.get(STRUCTURE) as Known | undefined;
  if (!known || raw.bodyUsed || !raw.body) return;
  known.isCounted = true;
  const held: BodyReservation = { use: known.use, arrived() {}, end() {} };
  const open = () => decompressed(raw.body!, format);
  const { body } = counted(open, { ...limits, structure: new JsonStructure(known.limit) }, held, true);
  c.req.raw = new Request(raw, { body, duplex: "half" } as RequestInit);
}

/** Middleware that holds the bodies of all requests behind it. */
export function holdBodies({ gate, maxBytes, setting }: BodyLimits): MiddlewareHandler {
  return async (c, next) => {
    const isJson = /\bjson\b/i.test(c.req.header("content-type") ?? "") && !c.req.header("content-encoding");
    const release = await holdBody(c, gate, { maxBytes, setting, isPublic: false, isJson });
    try {
      await next();
    } finally {
      release?.();
    }
  };
}

/** Whether decompression failed: zlib's errors, and the TypeErrors that streams make of them. */
const isCorrupt = (error: unknown): boolean =>
  error instanceof TypeError || String((error as { code?: unknown } | null)?.code).startsWith("Z_");

/** Whether there is a body. A request that did not arrive over a socket may have an undeclared one. */
function hasBody(c: Context, declared: string | undefined): boolean {
  if (declared !== undefined) return Number(declared) > 0;
  if (c.req.header("transfer-encoding") !== undefined) return true;
  const isFromSocket = (c.env as { incoming?: unknown } | undefined)?.incoming !== undefined;
  return !isFromSocket && c.req.raw.body !== null;
}

/** @throws 415 for another encoding */
function compression(c: Context): CompressionFormat | undefined {
  const encoding = c.req.header("content-encoding")?.trim().toLowerCase();
  if (!encoding || encoding === "identity") return undefined;
  const format = FORMATS[encoding];
  if (!format)
    throw new AppError(415, `Content-Encoding: ${encoding} is not supported; use identity, gzip and deflate.`);
  return format;
}

function decompressed(body: ReadableStream<Uint8Array>, format: CompressionFormat): ReadableStream<Uint8Array> {
  const stream = new DecompressionStream(format) as unknown as ReadableWritablePair<Uint8Array, Uint8Array>;
  return body.pipeThrough(stream);
}

/** @param setting environment variable that raises the limit */
export class BodyTooLargeError extends AppError {
  constructor(maxBytes: number, setting?: string) {
    super(413, `The request body is larger than ${maxBytes} bytes${setting === undefined ? "" : ` (${setting})`}.`);
  }
}

interface CountedLimits {
  maxBytes: number;
  tooLarge: () => AppError;
  structure: JsonStructure | undefined;
  isPublic: boolean;
}

/**
 * Reads the rest of a body that was rejected: the connection serves further requests if it arrives soon, and is closed
 * otherwise.
 */
export async function discardRest(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<void> {
  try {
    while (!(await reader.read()).done);
  } catch {
    // the sender has left
  }
}

/** `fail` ends the body with an error, whatever has arrived. */
function counted(
  open: () => ReadableStream<Uint8Array>,
  { maxBytes, tooLarge, structure, isPublic }: CountedLimits,
  reservation: BodyReservation,
  isCompressed: boolean,
): { body: ReadableStream<Uint8Array>; fail: (error: AppError) => void } {
  let reader: ReadableStreamDefaultReader<Uint8Array> | undefined;
  let controller!: ReadableStreamDefaultController<Uint8Array>;
  let total = 0;
  let failed = false;
  const fail = (error: unknown) => {
    if (failed) return;
    failed = true;
    controller.error(error);
    // its rest would unpack to any size
    if (isCompressed) reader?.cancel(error).catch(() => {});
    else if (reader) void discardRest(reader);
  };
  const body = new ReadableStream<Uint8Array>(
    {
      start: (streamController) => void (controller = streamController),
      async pull() {
        reader ??= open().getReader();
        const { done, value } = await reader.read().catch((error: unknown) => {
          throw isCompressed && isCorrupt(error)
            ? new AppError(400, "The request body is not validly compressed.")
            : error;
        });
        if (failed) return;
        if (done) {
          reservation.arrived();
          return controller.close();
        }
        total += value.byteLength;
        if (total > maxBytes) return fail(tooLarge());
        try {
          const before = structure?.weight ?? 0;
          structure?.add(value);
          const weight = isPublic ? 0 : (structure?.weight ?? 0) - before;
          await reservation.use(value.byteLength + weight);
        } catch (error) {
          return fail(error);
        }
        if (!failed) controller.enqueue(value);
      },
      cancel: (reason) => reader?.cancel(reason),
    },
    // read nothing ahead of the consumer
    { highWaterMark: 0 },
  );
  return { body, fail };
}
