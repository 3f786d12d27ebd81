import { deflateSync, gzipSync } from "node:zlib";

import { encodePieces, type Pieces } from "./pieces.ts";
import type { ServerName } from "./servers.ts";

/**
 * `key`: the administrator of workspace A. `nobody`: sends no key. `stranger`: has a key to another workspace.
 * `listener`: a listener of workspace A, with its own credential.
 */
export type Caller = "key" | "nobody" | "stranger" | "listener";

/** One request, as data: printed, shrunk, kept as a fixed case. */
export interface HttpInput {
  server: ServerName;
  caller: Caller;
  method: string;
  /** Path and query, sent as they are. */
  target: string;
  headers?: readonly (readonly [name: string, value: string])[];
  body?: Pieces;
  /** Compressions of the body, the innermost first. */
  encode?: readonly Compression[];
  /** In place of everything else of the head, after the request line. */
  rawHead?: Pieces;
  /** The declared operation that the target means, such as `GET /threads/{thread_id}`. */
  operation?: string;
}

export type Compression = "gzip" | "deflate" | "zstd";

/** Compresses; zstd by repeating bytes where it can, which is all that a bomb needs. */
export function compress(content: Buffer, kind: Compression): Buffer {
  if (kind === "gzip") return gzipSync(content, { level: 1 });
  if (kind === "deflate") return deflateSync(content, { level: 1 });
  return zstdFrame(content);
}

const ZSTD_BLOCK = 128 * 1024;

/** A frame of RFC 8878 with raw blocks, and with RLE blocks where all bytes are the same. */
function zstdFrame(content: Buffer): Buffer {
  // no content size, no dictionary, a window of 128 KiB
  const parts: Buffer[] = [Buffer.from("28b52ffd", "hex"), Buffer.from([0x00, 0x38])];
  for (let at = 0; at < content.length || at === 0; at += ZSTD_BLOCK) {
    const block = content.subarray(at, at + ZSTD_BLOCK);
    const isLast = at + ZSTD_BLOCK >= content.length ? 1 : 0;
    const isRun = block.length > 1 && block.equals(Buffer.alloc(block.length, block[0]));
    const header = Buffer.alloc(4);
    header.writeUInt32LE((block.length << 3) | ((isRun ? 1 : 0) << 1) | isLast);
    parts.push(header.subarray(0, 3), isRun ? block.subarray(0, 1) : block);
  }
  return Buffer.concat(parts);
}

export interface Credentials {
  key: string;
  workspaceId: string;
}

/** Returns the bytes of a request. */
export function encodeRequest(
  input: HttpInput,
  credentials: Credentials | undefined,
): { head: Buffer; body: Buffer; keepAlive: boolean } {
  let body: Buffer = encodePieces(input.body ?? []);
  for (const kind of input.encode ?? []) body = compress(body, kind);
  const line = `${input.method} ${input.target} HTTP/1.1\r\n`;
  const own = [
    "host: localhost",
    ...(credentials ? [`x-api-key: ${credentials.key}`, `x-tenant-id: ${credentials.workspaceId}`] : []),
  ];
  if (input.rawHead) {
    const head = Buffer.concat([toBytes(line), toBytes(`${own.join("\r\n")}\r\n`), encodePieces(input.rawHead)]);
    return { head, body, keepAlive: false };
  }
  const given = input.headers ?? [];
  const names = new Set(given.map(([name]) => name.toLowerCase()));
  const hasBody = input.body !== undefined && !names.has("content-length") && !names.has("transfer-encoding");
  const lines = [
    ...own,
    ...given.map(([name, value]) => `${name}: ${value}`),
    ...(hasBody ? [`content-length: ${body.length}`] : []),
    ...(hasBody && !names.has("content-type") ? ["content-type: application/json"] : []),
    ...((input.encode?.length ?? 0) > 0 && !names.has("content-encoding")
      ? [`content-encoding: ${input.encode!.join(", ")}`]
      : []),
  ];
  const isPlain = !names.has("connection") && !names.has("upgrade") && !names.has("transfer-encoding");
  const isWellFormed = /^[\x21-\x7e]+$/.test(input.target) && isPlain && !names.has("content-length");
  const head = toBytes(`${line}${lines.join("\r\n")}\r\n\r\n`);
  return { head, body, keepAlive: isWellFormed };
}

/** Characters up to U+00FF are bytes, so that a description can contain any byte; others are UTF-8. */
const toBytes = (text: string): Buffer =>
  // oxlint-disable-next-line no-control-regex
  /^[\0-\xff]*$/.test(text) ? Buffer.from(text, "latin1") : Buffer.from(text);

/** The path of a target as a router reads it: dots resolved as in URLs, then decoded. The target, if it is no URL. */
export function pathAsRead(target: string): string {
  try {
    return decodeURIComponent(new URL(target, "http://localhost").pathname);
  } catch {
    return target;
  }
}
