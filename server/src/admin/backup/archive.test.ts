import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { openDatabase } from "../../base/db/open-database.ts";
import { restoreMarker } from "../../base/db/unfinished-restore.ts";
import { createLog } from "../../base/log.ts";
import { openArchivePlace } from "./archive-place.ts";
import { readArchive } from "./archive-reader.ts";
import { ArchiveWriter } from "./archive-writer.ts";
import { copyFiles } from "./copy-files.ts";
import { INTRODUCTION, type Introduction } from "./manifest.ts";
import { restoreBackup, verifyArchive } from "./restore-backup.ts";
import { sealKeys } from "./seal-keys.ts";
import { ByteReader, encodeHeader, readHeader, type TarEntry } from "./tar.ts";

const folder = mkdtempSync(join(tmpdir(), "heddle-archive-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const LONG = "long".repeat(60);
const files = join(folder, "files");
mkdirSync(join(files, "empty"), { recursive: true });
writeFileSync(join(files, LONG), "of a long name");
writeFileSync(join(files, "large"), Buffer.alloc(3000, "x"));
symlinkSync(`${LONG}/elsewhere`, join(files, "link"));

const INTRODUCED: Introduction = {
  format: 1,
  heddle_version: "9.9.9",
  created_at: "2026-11-24T12:00:00.000Z",
  databases: [{ name: "heddle", schema_version: 10 }],
  traces_version: 1,
  keys: "encrypted",
};
const sealed = sealKeys({ "secrets.keys": "k1:…" }, "correct horse");

/** Composes an archive with files and keys. */
async function compose(introduction: Partial<Introduction> = {}): Promise<Buffer> {
  const archive = new ArchiveWriter();
  const chunks: Buffer[] = [];
  async function* all() {
    yield* archive.file(INTRODUCTION, Buffer.from(JSON.stringify({ ...INTRODUCED, ...introduction })));
    yield* archive.file("keys/keys.sealed", sealed);
    yield* copyFiles(archive, files, "control");
    yield* archive.end({ tables: [], sequences: [], roles: [], traces: [], notes: [] });
  }
  for await (const chunk of all()) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
const whole = await compose();

async function* inChunks(content: Buffer, size = 700): AsyncGenerator<Buffer> {
  for (let at = 0; at < content.length; at += size) yield content.subarray(at, at + size);
}

const asFile = (content: Buffer, name = "archive.tar"): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

test("reads the files, folders and links that were written, with long names", async () => {
  const found: Record<string, string> = {};
  await readArchive(inChunks(whole), async ({ name, type, target }, content) => {
    found[name] = type === "file" ? (await content.whole()).toString() : `${type} ${target}`;
  });
  expect(found).toEqual({
    "keys/keys.sealed": sealed.toString(),
    "control/empty": "directory ",
    "control/large": "x".repeat(3000),
    "control/link": `link ${LONG}/elsewhere`,
    [`control/${LONG}`]: "of a long name",
  });
});

test("keeps sizes above 8 GiB", async () => {
  const entry: TarEntry = { name: "big", type: "file", size: 9 * 1024 ** 3, mode: 0o600, uid: 0, gid: 0, target: "" };
  expect(await readHeader(new ByteReader(inChunks(encodeHeader(entry))))).toEqual(entry);
});

test("detects an archive that is truncated at any block", async () => {
  for (let length = 0; length < whole.length; length += 256) {
    await expect(readArchive(inChunks(whole.subarray(0, length)))).rejects.toThrow(/truncated|damaged/);
  }
});

test("detects a changed bit anywhere in the archive", async () => {
  const missed: number[] = [];
  for (let at = 0; at < whole.length; at += 7) {
    const changed = Buffer.from(whole);
    changed[at]! ^= 1 << (at % 8);
    const isDetected = await readArchive(inChunks(changed, 65_536)).then(
      () => false,
      () => true,
    );
    if (!isDetected) missed.push(at);
  }
  expect(missed).toEqual([]);
});

test("rejects what no backup has written, and archives of newer formats and schemas", async () => {
  const verify = (content: Buffer) => verifyArchive(asFile(content), {});
  await expect(verify(Buffer.from("PK\x03\x04".repeat(1000)))).rejects.toThrow("damaged: a header is not intact");
  await expect(verify(await compose({ format: 2 }))).rejects.toThrow(/format 2.*up to 1/);
  const databases = [{ name: "heddle", schema_version: 9999 }];
  await expect(verify(await compose({ databases }))).rejects.toThrow(/schema version 9999.*Heddle 9\.9\.9/);
  await expect(verify(await compose({ traces_version: 9999 }))).rejects.toThrow(/traces .*version 9999/);
  await expect(verifyArchive(join(folder, "nothing.tar"), {})).rejects.toThrow("There is no archive");
});

const restore = (dataDir: string, options: { from?: string; passphrase?: string; withoutKeys?: boolean } = {}) =>
  restoreBackup({
    location: { dataDir, env: {} },
    from: options.from ?? asFile(whole),
    withoutKeys: options.withoutKeys ?? false,
    passphrase: options.passphrase,
    onProgress: () => {},
  });

test("a restore with a wrong passphrase, without one, or of a damaged archive writes nothing", async () => {
  const dataDir = join(folder, "fresh");
  await expect(restore(dataDir, { passphrase: "wrong horse" })).rejects.toThrow("does not open the keys");
  await expect(restore(dataDir)).rejects.toThrow("HEDDLE_BACKUP_PASSPHRASE");
  const damaged = asFile(whole.subarray(0, -2048), "short.tar");
  await expect(restore(dataDir, { from: damaged, withoutKeys: true })).rejects.toThrow(/truncated|damaged/);
  expect(readdirSync(folder)).not.toContain("fresh");
});

test("a restore onto data is refused, names it, and changes nothing", async () => {
  for (const name of ["postgres", "chdb", "blobs", "control", "secrets.keys"]) {
    const dataDir = mkdtempSync(join(folder, "used-"));
    writeFileSync(join(dataDir, name), "data");
    await expect(restore(dataDir, { passphrase: "correct horse" })).rejects.toThrow(
      `holds data: ${join(dataDir, name)}`,
    );
    expect(readdirSync(dataDir)).toEqual([name]);
  }
});

test("no server starts on a directory whose restore has not finished", async () => {
  const dataDir = mkdtempSync(join(folder, "unfinished-"));
  writeFileSync(restoreMarker(dataDir), "");
  const log = createLog("silent");
  await expect(openDatabase({ uri: undefined, dataDir, log })).rejects.toThrow("has not finished");
});

test("an archive that fails midway leaves no file under its name", async () => {
  const path = join(folder, "failed.tar");
  const place = await openArchivePlace(path, { backupRegion: "" } as never);
  const failing = async function* () {
    yield Buffer.from("begin");
    throw new Error("the source is gone");
  };
  await expect(place.write(failing())).rejects.toThrow("the source is gone");
  expect(readdirSync(folder).filter((name) => name.startsWith("failed"))).toEqual([]);
  await place.write(inChunks(whole));
  expect(readFileSync(path).equals(whole)).toBe(true);
});
