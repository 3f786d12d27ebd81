import { AppError, unprocessable } from "../../base/errors.ts";

/** Part: its name, the file name if any, its content type without parameters, and its bytes. */
export interface Part {
  name: string;
  filename: string | undefined;
  type: string;
  content: Buffer;
}

/** Parts of a body, or of a portion. Above the number in any request within the SDKs' size limits. */
const MAX_PARTS = 50_000;
const MAX_HEADER_BYTES = 16 * 1024;
const HEAD_END = Buffer.from("\r\n\r\n");

/**
 * Parses a whole multipart/form-data body (RFC 7578, RFC 2046 §5.1); bodies of traces are parsed in portions
 * (read-portions.ts). Parts are slices of the body. A part that declares its length (`Content-Length`, or `; length=N`
 * beside the content type, as the SDKs send) is not even scanned. @fastify/busboy's Dicer was tried: a stream per part
 * takes four times as long.
 * @throws 400 for a body that does not match its Content-Type, 415 for another Content-Type
 */
export function readMultipart(contentType: string, body: Buffer): Part[] {
  return scanParts(body, multipartDelimiter(contentType), true).parts;
}

/** @returns the delimiter of the parts. @throws 415 for another Content-Type */
export function multipartDelimiter(contentType: string): Buffer {
  const boundary = /^multipart\/form-data\s*;.*?boundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType);
  if (!boundary) throw new AppError(415, "Content-Type must be multipart/form-data with a boundary");
  return Buffer.from(`\r\n--${boundary[1] ?? boundary[2]!}`);
}

export interface Scanned {
  parts: Part[];
  /** Offset of the delimiter before the first part that is not complete. */
  rest: number;
  /** Name of that part, if its headers are complete. */
  next?: string;
  hasEnded: boolean;
}

/**
 * Parses the complete parts of a body, or of its beginning. The beginning must contain a delimiter.
 * @throws 400 when it is malformed, or when the whole of it ends within a part
 */
export function scanParts(body: Buffer, delimiter: Buffer, isWhole: boolean): Scanned {
  const parts: Part[] = [];
  let at = beginning(body, delimiter);
  for (;;) {
    const rest = at;
    at += delimiter.length;
    if (body[at] === DASH && body[at + 1] === DASH) return { parts, rest, hasEnded: true };
    const mayContinue = !isWhole && body.length - at < MAX_HEADER_BYTES;
    if (mayContinue && body.indexOf(HEAD_END, at) < 0) return { parts, rest, hasEnded: false };
    const head = skipPadding(body, at);
    // a part without headers begins with the empty line itself
    const headEnd = body.indexOf(HEAD_END, head - 2);
    if (headEnd < 0 || headEnd - head > MAX_HEADER_BYTES) throw broken("the headers of a part are not terminated");
    if (parts.length >= MAX_PARTS) throw unprocessable(`More than ${MAX_PARTS} parts`);
    const { declared, ...part } = readHead(body.toString("utf8", head, Math.max(head, headEnd)));
    const start = headEnd + HEAD_END.length;
    const isCut = !isWhole && declared !== undefined && start + declared + delimiter.length > body.length;
    const end =
      isCut || (declared !== undefined && startsAt(body, delimiter, start + declared))
        ? start + declared!
        : body.indexOf(delimiter, start);
    // two bytes after a delimiter tell whether it is the last
    if (!isWhole && (end < 0 || isCut || end + delimiter.length + 2 > body.length))
      return { parts, rest, next: part.name, hasEnded: false };
    if (end < 0) throw broken("it ends within a part");
    if (declared !== undefined && end !== start + declared) {
      throw broken(`part ${JSON.stringify(part.name)} declares ${declared} bytes and has ${end - start}`);
    }
    parts.push({ ...part, content: body.subarray(start, end) });
    at = end;
  }
}

const DASH = 45;
const CR = 13;
const LF = 10;

export const broken = (why: string): AppError => new AppError(400, `The multipart body is malformed: ${why}`);

const startsAt = (body: Buffer, prefix: Buffer, at: number): boolean =>
  at + prefix.length <= body.length && body.compare(prefix, 0, prefix.length, at, at + prefix.length) === 0;

/**
 * Returns the offset of the first delimiter. Its leading line break may be missing: then the offset is before the body.
 */
function beginning(body: Buffer, delimiter: Buffer): number {
  const bare = delimiter.subarray(2);
  if (startsAt(body, bare, 0)) return -2;
  const at = body.indexOf(delimiter);
  if (at < 0) throw broken("the boundary does not occur in it");
  return at;
}

/** Skips the spaces and the line break after a delimiter. */
function skipPadding(body: Buffer, from: number): number {
  let at = from;
  while (body[at] === 32 || body[at] === 9) at++;
  if (body[at] !== CR || body[at + 1] !== LF) throw broken("the boundary is not followed by a line break");
  return at + 2;
}

function readHead(head: string): Omit<Part, "content"> & { declared: number | undefined } {
  let disposition = "";
  let type = "application/octet-stream";
  let declared: string | undefined;
  for (const line of head.split("\r\n")) {
    const colon = line.indexOf(":");
    const value = line.slice(colon + 1).trim();
    switch (line.slice(0, colon).trim().toLowerCase()) {
      case "content-disposition":
        disposition = value;
        break;
      case "content-type":
        type = value;
        break;
      case "content-length":
        declared = value;
        break;
      case "content-encoding":
        throw new AppError(400, "Parts cannot have their own Content-Encoding");
    }
  }
  const name = headerParameter(disposition, NAME);
  if (name === undefined) throw new AppError(400, "A multipart part has no name");
  declared ??= type.includes("length") ? LENGTH.exec(type)?.[1] : undefined;
  const semicolon = type.indexOf(";");
  return {
    name,
    filename: disposition.includes("filename") ? headerParameter(disposition, FILENAME) : undefined,
    type: (semicolon < 0 ? type : type.slice(0, semicolon)).trim().toLowerCase(),
    declared: declared !== undefined && /^\d{1,15}$/.test(declared) ? Number(declared) : undefined,
  };
}

const LENGTH = /;\s*length=(\d+)/i;
const NAME = /;\s*name=(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))/i;
const FILENAME = /;\s*filename=(?:"((?:[^"\\]|\\.)*)"|([^\s;]+))/i;

/** Returns a parameter of `form-data; name="x"; filename="y"`, quoted or not. */
function headerParameter(header: string, pattern: RegExp): string | undefined {
  const found = pattern.exec(header);
  if (!found) return undefined;
  const value = found[1] ?? found[2]!;
  return value.includes("\\") ? value.replace(/\\(.)/g, "$1") : value;
}
