import { createReadStream, createWriteStream } from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { pipeline } from "node:stream/promises";
import { PassThrough, Transform } from "node:stream";
import { createGunzip } from "node:zlib";

import { Parser, type ReadEntry } from "tar";

import { coerceError } from "../../base/errors.ts";
import { BuildError } from "./build-error.ts";
import { type Link, makeLinks } from "./make-links.ts";

export interface UnpackLimits {
  maxBytes: number;
  maxEntries: number;
  /** Whether to accept symbolic links that point into the archive. */
  withLinks?: boolean;
}

/**
 * Unpacks an archive into an empty directory. It may hold files, directories and, if permitted, links: devices,
 * absolute or upward paths and exceeded limits fail the build. Owners and modes of the archive are ignored, except for
 * the executable bit.
 * @throws BuildError
 */
export async function unpack(
  archive: string,
  directory: string,
  limits: UnpackLimits,
  signal: AbortSignal,
): Promise<{ entries: number; bytes: number }> {
  let entries = 0;
  let bytes = 0;
  let failure: Error | undefined;
  const created = new Set<string>();
  const links: Link[] = [];
  let writing: Promise<unknown> = Promise.resolve();
  const stop = new AbortController();
  const fail = (error: unknown) => {
    failure ??= coerceError(error);
    stop.abort();
  };

  const parser = new Parser({
    strict: true,
    // one at a time: an entry's body is read only after the previous one is on disk
    onReadEntry(entry) {
      writing = writing
        .then(() => (failure === undefined ? write(entry) : drop(entry)))
        .catch((error: unknown) => {
          fail(error);
          entry.resume();
        });
    },
  });

  async function write(entry: ReadEntry): Promise<void> {
    entries += 1;
    if (entries > limits.maxEntries) throw new BuildError(`The archive has more than ${limits.maxEntries} entries.`);
    const path = safePath(String(entry.path));
    if (entry.type === "Directory") {
      await makeDirectory(path);
      entry.resume();
      return;
    }
    if (entry.type === "SymbolicLink" && limits.withLinks) {
      links.push({ path, target: String(entry.linkpath) });
      entry.resume();
      return;
    }
    if (!FILES.has(entry.type)) {
      throw new BuildError(
        `The archive contains ${describeType(entry.type)}, ${quote(path)}; only files and directories are accepted.`,
      );
    }
    if (path === "") throw new BuildError("The archive contains a file without a name.");
    await makeDirectory(dirname(path) === "." ? "" : dirname(path));
    const mode = (entry.mode ?? 0) & 0o100 ? 0o700 : 0o600;
    const body = new PassThrough();
    entry.on("data", (chunk: Buffer) => {
      if (!body.write(chunk)) {
        entry.pause();
        body.once("drain", () => entry.resume());
      }
    });
    entry.on("end", () => body.end());
    await pipeline(body, createWriteStream(join(directory, path), { mode }), { signal: stop.signal });
  }

  async function makeDirectory(path: string): Promise<void> {
    if (created.has(path)) return;
    await mkdir(join(directory, path), { recursive: true, mode: 0o700 });
    created.add(path);
  }

  const counted = new Transform({
    transform(chunk: Buffer, _, done) {
      bytes += chunk.length;
      const tooMuch = bytes > limits.maxBytes;
      if (!tooMuch) return done(null, chunk);
      done(new BuildError(`The archive unpacks to more than ${Math.round(limits.maxBytes / 1048576)} MiB.`));
    },
  });
  let ended = false;
  parser.on("eof", () => (ended = true));
  const parsed = new Promise<void>((resolve, reject) => {
    parser.on("end", resolve);
    parser.on("error", reject);
  });
  // a parser that failed accepts nothing more, and never emits drain
  parsed.catch(fail);
  try {
    const feed = async (chunks: AsyncIterable<Buffer>) => {
      let head = Buffer.alloc(0);
      for await (const next of chunks) {
        if (failure !== undefined) throw failure;
        // the parser would buffer data after the end, and copy all of it for each chunk
        if (ended) continue;
        let chunk = next;
        if (head.length < 4) {
          head = chunk = Buffer.concat([head, next]);
          if (head.length < 4) continue;
          // the parser would decompress that too, past the limit
          if (PACKED.has(head.toString("hex", 0, 2))) {
            const twice = new BuildError("The archive is compressed twice.");
            fail(twice);
            throw twice;
          }
        }
        if (!parser.write(chunk)) await new Promise<void>((go) => waitForDrain(parser, stop.signal, go));
      }
      parser.end();
    };
    await pipeline(createReadStream(archive), createGunzip(), counted, feed, {
      signal: AbortSignal.any([signal, stop.signal]),
    });
    await parsed;
    await writing;
    if (failure !== undefined) throw failure;
    await makeLinks(directory, links);
    return { entries, bytes };
  } catch (error) {
    const first = failure ?? error;
    // the current write gets no more data, and would wait forever
    stop.abort();
    await writing.catch(() => {});
    throw explain(first);
  }
}

/** Magic numbers of gzip and zstd. */
const PACKED: ReadonlySet<string> = new Set(["1f8b", "28b5"]);

const FILES: ReadonlySet<string> = new Set(["File", "OldFile", "ContiguousFile"]);

/** Returns a path below the directory, with / as separator; throws for any other. */
function safePath(path: string): string {
  const subject = `The archive contains the path ${quote(path)}`;
  // oxlint-disable-next-line no-control-regex -- these are what must not be there
  if (/[\x00-\x1f\x7f]/.test(path)) throw new BuildError(`${subject}, which contains control characters.`);
  if (path.includes("\\")) throw new BuildError(`${subject}, which contains a backslash.`);
  if (path.startsWith("/") || /^[a-z]:/i.test(path)) throw new BuildError(`${subject}, which is absolute.`);
  const parts = path.split("/").filter((part) => part !== "" && part !== ".");
  if (parts.includes("..")) throw new BuildError(`${subject}, which points outside the archive.`);
  if (parts.length > 64 || parts.some((part) => Buffer.byteLength(part) > 255)) {
    throw new BuildError(`${subject}, which is too long.`);
  }
  return parts.join("/");
}

function waitForDrain(parser: Parser, signal: AbortSignal, go: () => void): void {
  if (signal.aborted) return go();
  const done = () => {
    parser.off("drain", done);
    signal.removeEventListener("abort", done);
    go();
  };
  parser.on("drain", done);
  signal.addEventListener("abort", done);
}

async function drop(entry: ReadEntry): Promise<void> {
  entry.resume();
}

function explain(error: unknown): unknown {
  if (error instanceof BuildError) return error;
  const { code, tarCode, message } = error as { code?: string; tarCode?: string; message: string };
  if (tarCode !== undefined || code?.startsWith("Z_") || code?.startsWith("TAR_")) {
    return new BuildError(`The archive cannot be read: ${message}.`);
  }
  if (code === "EISDIR" || code === "ENOTDIR" || code === "EEXIST" || code === "ENAMETOOLONG") {
    return new BuildError(
      `The archive contains a file and a directory with the same name, or a name that is too long: ${message}.`,
    );
  }
  return error;
}

const describeType = (type: string): string =>
  ({ SymbolicLink: "a symbolic link", Link: "a hard link" })[type] ?? `an entry of type ${type}`;

const quote = (path: string): string => JSON.stringify(path.slice(0, 200));
