import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { afterEach, beforeEach, expect, test } from "vitest";

import { unpack } from "./unpack.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "heddle-unpack-"));
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const MIB = 1_048_576;

function unpackBytes(content: Buffer) {
  const archive = join(directory, "archive");
  writeFileSync(archive, gzipSync(content));
  return unpack(archive, directory, { maxBytes: 64 * MIB, maxEntries: 10 }, new AbortController().signal);
}

test.each([
  ["zeros", Buffer.alloc(48 * MIB)],
  ["text", Buffer.alloc(8 * MIB, "no archive at all\n")],
])("%s of many chunks end the build with the reason instead of hanging", async (_, content) => {
  await expect(unpackBytes(content)).rejects.toThrow(/The archive cannot be read/);
});

test("rejects an archive compressed twice", async () => {
  await expect(unpackBytes(gzipSync(randomBytes(8 * MIB)))).rejects.toThrow(/compressed twice/);
});
