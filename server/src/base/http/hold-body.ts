import type { Context, MiddlewareHandler } from "hono";

import { JsonStructure, MAX_DEPTH, type StructureLimit } from "../json-structure.ts";
import type { BodyGate } from "./body-gate.ts";
import type { HeldBody } from "./held-body.ts";
import { type BodyLimit, checkLength, collect, knownLength, readBody, unpacker } from "./read-body.ts";

/** Largest body of a route without authentication. */
export const PUBLIC_BODY_BYTES = 64 * 1024;

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
  /** Whether the route reads the body next, so that nothing else can have copied the stream. */
  isLast?: boolean;
}

/** A body with a declared length up to this is counted at once and read the fast way. Connections bound their number. */
const SMALL_BYTES = 16 * 1024;

const HELD = "heddle.heldBody";

/** What is known of a request's body. */
interface Known {
  held: HeldBody;
  limit: StructureLimit;
  /** Whether its structure was counted while it arrived. */
  isCounted: boolean;
  /** Reads it when it is its turn to be decoded. */
  collect?: () => Promise<Buffer>;
}

/** Limit of bodies that are not held, such as those of tests. */
const ANY: StructureLimit = { maxBytes: 64 * 1024 * 1024, maxDepth: MAX_DEPTH };

/**
 * Counts the structure of a JSON body before it is decoded, unless it was counted while it arrived. @throws 413 when it
 * would take too much memory, 422 when it is nested too deep, 503 when there is no room
 */
export async function countBody(c: Context, text: string): Promise<void> {
  const known = c.get(HELD) as Known | undefined;
  if (known?.isCounted) return;
  const structure = new JsonStructure(known?.limit ?? ANY);
  structure.add(Buffer.from(text));
  await known?.held.weigh(structure.weight);
}

/** Reads a body as text and decodes it. Large ones take turns, since each takes its size several times meanwhile. */
export async function decodeBody<T>(c: Context, decode: (text: string) => T | Promise<T>): Promise<T> {
  const known = c.get(HELD) as Known | undefined;
  if (!known?.collect) return decode(await c.req.text());
  try {
    return await decode(new TextDecoder().decode(await known.collect()));
  } finally {
    known.held.endTurn();
  }
}

/**
 * Counts a request's body until the returned function is called, and limits it: by its declared length, or else while
 * it is read. Reads nothing itself.
 * @returns undefined when there is no body. @throws 413 when it is too large, 503 when there is no room
 */
export function holdBody(
  c: Context,
  gate: BodyGate,
  { maxBytes, setting, isPublic, isJson = false, isLast = false }: Limit,
  tenantId = "",
): (() => void) | Promise<() => void> | undefined {
  if (c.req.method === "GET" || c.req.method === "HEAD") return undefined;
  const declared = c.req.header("content-length");
  const length = Number(declared ?? 0);
  checkLength(c.req.raw.headers, { maxBytes, setting });
  if (!hasBody(c, declared)) return undefined;
  const limit = { maxBytes, setting };
  const before = c.get(HELD) as Known | undefined;
  if (before) {
    // middleware holds it, and the project's own code was to read it as it was sent
    if (isJson && isCompressed(c) && !c.req.raw.bodyUsed) readThrough(c, before, limit, { isJson, isLast });
    return undefined;
  }
  const known: Known = { held: IGNORED, limit: { maxBytes, setting, maxDepth: MAX_DEPTH }, isCounted: false };
  c.set(HELD, known);
  if (!isPublic && declared !== undefined && length <= SMALL_BYTES && !c.req.header("content-encoding")) {
    const body = gate.hold(tenantId);
    body.arrived();
    const release = () => body.end();
    return body.tryUse(length) ? release : body.use(length).then(() => release);
  }
  const held = isPublic ? gate.holdPublic() : gate.hold(tenantId);
  known.held = held;
  try {
    readThrough(c, known, limit, { isJson, isLast });
  } catch (error) {
    held.end();
    throw error;
  }
  return () => held.end();
}

/** A small body, whose elements are not accounted for. */
const IGNORED: HeldBody = {
  async use() {},
  async weigh() {},
  arrived() {},
  onEvicted() {},
  async turnToDecode() {},
  endTurn() {},
  end() {},
};

/** Replaces the body of a request by one that is counted, and decompressed if it is JSON, as it is read. */
function readThrough(
  c: Context,
  known: Known,
  limit: BodyLimit,
  { isJson, isLast }: { isJson: boolean; isLast: boolean },
): void {
  const { raw } = c.req;
  if (isJson) unpacker(raw.headers, limit);
  known.isCounted = isJson;
  const source = isJson ? raw : { body: raw.body, headers: new Headers() };
  const chunks = readBody(source, limit, known.held, isJson ? new JsonStructure(known.limit) : undefined);
  if (isLast) known.collect = () => collect(chunks, knownLength(raw.headers, limit.maxBytes), known.held);
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { done, value } = await chunks.next();
        if (done) controller.close();
        else controller.enqueue(value);
      },
      cancel: async () => void (await chunks.return(undefined)),
    },
    // read nothing ahead of the consumer
    { highWaterMark: 0 },
  );
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

/** Whether there is a body. A request that did not arrive over a socket may have an undeclared one. */
function hasBody(c: Context, declared: string | undefined): boolean {
  if (declared !== undefined) return Number(declared) > 0;
  if (c.req.header("transfer-encoding") !== undefined) return true;
  const isFromSocket = (c.env as { incoming?: unknown } | undefined)?.incoming !== undefined;
  return !isFromSocket && c.req.raw.body !== null;
}

const isCompressed = (c: Context): boolean => !/^(identity)?$/i.test(c.req.header("content-encoding")?.trim() ?? "");
