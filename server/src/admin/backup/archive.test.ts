import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { type Composed, composeArchive, inChunks, PASSPHRASE, SEALED } from "../../../test/archives.ts";
import { openDatabase } from "../../base/db/open-database.ts";
import { restoreMarker } from "../../base/db/unfinished-restore.ts";
import { createLog } from "../../base/log.ts";
import { openArchivePlace } from "./archive-place.ts";
import { readArchive } from "./archive-reader.ts";
import { restoreBackup } from "./restore-backup.ts";
import { verifyArchive } from "./verify-archive.ts";

const folder = mkdtempSync(join(tmpdir(), "heddle-archive-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const isRoot = process.getuid?.() === 0;
/** A system user as deployments have them. */
const DEPLOYMENT_USER = 2_077_216_992;

const LONG = "long".repeat(60);
const files = join(folder, "files");
mkdirSync(join(files, "empty"), { recursive: true });
writeFileSync(join(files, LONG), "of a long name");
writeFileSync(join(files, "large"), Buffer.alloc(3000, "x"));
utimesSync(join(files, "large"), 1_700_000_000, 1_700_000_000);
if (isRoot) chownSync(join(files, "large"), DEPLOYMENT_USER, DEPLOYMENT_USER);

/** Composes an archive with files and keys. */
const compose = (composed: Composed = {}) =>
  composeArchive({ passphrase: PASSPHRASE, ...(!composed.entries && { files }), ...composed });
const whole = await compose();

const asFile = (content: Buffer, name = "archive.tar"): string => {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
};

test("reads the files and folders that were written, with long names, owners and times", async () => {
  const found: Record<string, unknown> = {};
  await readArchive(inChunks(whole), {
    async handle({ name, type, mtime, uid }, content) {
      found[name] = type === "file" ? (await content.whole()).toString() : type;
      if (name === "control/large")
        expect({ mtime, uid }).toEqual({ mtime: 1_700_000_000, uid: isRoot ? DEPLOYMENT_USER : uid });
    },
  });
  expect(found).toEqual({
    "keys/keys.sealed": SEALED.toString(),
    "control/empty": "directory",
    "control/large": "x".repeat(3000),
    [`control/${LONG}`]: "of a long name",
  });
});

test("detects an archive that is truncated at any block", async () => {
  for (let length = 0; length < whole.length; length += 256) {
    await expect(readArchive(inChunks(whole.subarray(0, length)))).rejects.toThrow(/truncated|damaged/);
  }
});

test("detects a changed bit anywhere in the archive", async () => {
  const unsigned = await compose({ passphrase: undefined });
  const missed: number[] = [];
  for (let at = 0; at < unsigned.length; at += 7) {
    const changed = Buffer.from(unsigned);
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
  await expect(verify(await compose({ introduction: { format: 3 } }))).rejects.toThrow(/format 3.*up to 2/);
  const databases = [{ name: "heddle", schema_version: 9999 }];
  await expect(verify(await compose({ introduction: { databases } }))).rejects.toThrow(
    /schema version 9999.*Heddle 9\.9\.9/,
  );
  await expect(verify(await compose({ introduction: { traces_version: 9999 } }))).rejects.toThrow(
    /traces .*version 9999/,
  );
  await expect(verifyArchive(join(folder, "nothing.tar"), {})).rejects.toThrow("There is no archive");
});

const D = "directory" as const;
const BUILD = [
  { name: "control/builds", type: D },
  { name: "control/builds/b", type: D },
  { name: "control/builds/b/src", type: D },
];
/** Archives that are whole, and that no backup has written. */
const HOSTILE: [title: string, entries: Composed["entries"], problem: RegExp][] = [
  ["an absolute name", [{ name: "/etc/cron.d/evil" }], /is unknown/],
  ["an absolute name in a section", [{ name: "control//etc/passwd" }], /leads elsewhere/],
  ["a name upwards", [{ name: "control/../../evil" }], /leads elsewhere/],
  ["a name upwards at the end", [{ name: "control/..", type: D }], /leads elsewhere/],
  ["a table upwards", [{ name: "traces/../evil" }], /is unknown/],
  ["a dot as a name", [{ name: "control/./x" }], /leads elsewhere/],
  ["an empty name", [{ name: "" }], /is unknown/],
  ["the section alone", [{ name: "control", type: D }], /has no name/],
  ["an unknown section", [{ name: "postgresql.conf" }], /is unknown/],
  ["an unknown place of rows", [{ name: "postgres/heddle/threads/000000.sql" }], /is unknown/],
  ["a file in no directory", [{ name: "control/uploads/x" }], /in no directory/],
  ["a file below a file", [{ name: "control/x" }, { name: "control/x/y" }], /in no directory/],
  ["a file twice", [{ name: "control/x" }, { name: "control/x" }], /twice or out of order/],
  [
    "a directory twice",
    [
      { name: "blobs/x", type: D },
      { name: "blobs/x", type: D },
    ],
    /twice or out of order/,
  ],
  ["a file as a directory", [{ name: "blobs/x", type: D }, { name: "blobs/x" }], /twice or out of order/],
  ["files out of order", [{ name: "blobs/b" }, { name: "blobs/a" }], /twice or out of order/],
  ["a section twice", [{ name: "blobs/a" }, { name: "control/a" }, { name: "blobs/b" }], /twice/],
  ["a link outside of builds", [{ name: "control/x", type: "link", target: "y" }], /is a link/],
  ["a link among attachments", [{ name: "blobs/x", type: "link", target: "y" }], /is a link/],
  ["an absolute link", [...BUILD, { name: "control/builds/b/src/l", type: "link", target: "/etc" }], /is a link/],
  ["a link upwards", [...BUILD, { name: "control/builds/b/src/l", type: "link", target: "../../c/src" }], /is a link/],
  [
    "a file below a link",
    [...BUILD, { name: "control/builds/b/src/l", type: "link", target: "." }, { name: "control/builds/b/src/l/evil" }],
    /in no directory/,
  ],
  ["a path that is too deep", [{ name: `control${"/d".repeat(129)}` }], /too long/],
  ["a name that is too long", [{ name: `control/${"x".repeat(4000)}` }], /too long/],
];

test.each(HOSTILE)("rejects %s before it writes anything", async (_, entries, problem) => {
  const from = asFile(await composeArchive({ entries: entries! }), "hostile.tar");
  await expect(verifyArchive(from, {})).rejects.toThrow(problem);
  const dataDir = join(folder, "target");
  await expect(restore(dataDir, { from, withoutKeys: true })).rejects.toThrow(problem);
  expect(existsSync(dataDir)).toBe(false);
});

test("accepts the virtual environments in archives of Heddle 0.6, whose builds are not restored", async () => {
  const link = { name: "control/builds/b/src/python", type: "link" as const, target: "/usr/bin/python3" };
  const old = { introduction: { format: 1 }, entries: [...BUILD, link] };
  const { introduction } = await verifyArchive(asFile(await composeArchive(old)), {});
  expect(introduction.format).toBe(1);
  const elsewhere = { introduction: { format: 1 }, entries: [{ ...link, name: "blobs/python" }] };
  await expect(verifyArchive(asFile(await composeArchive(elsewhere)), {})).rejects.toThrow("is a link");
});

test("rejects names in a manifest that would end up in statements, and keys that are no keys", async () => {
  for (const manifest of [
    { traces: [{ table: "runs; drop table runs" as "runs", parts: 1, rows: 1 }] },
    { roles: [{ name: "postgres", verifier: null, connections: 1 }] },
    { sequences: [{ database: "template1", name: "s", value: "1", called: true }] },
  ]) {
    await expect(verifyArchive(asFile(await composeArchive({ manifest })), {})).rejects.toThrow(
      "of its manifest is invalid",
    );
  }
  const databases = [{ name: "template1", schema_version: 1 }];
  await expect(verifyArchive(asFile(await composeArchive({ introduction: { databases } })), {})).rejects.toThrow(
    "first entry",
  );
});

test("the passphrase authenticates an archive: one that others have made or changed is rejected", async () => {
  const verify = (content: Buffer, passphrase?: string, onlyAuthenticated = false) =>
    verifyArchive(asFile(content), {}, { passphrase, onlyAuthenticated });
  expect(await verify(whole, PASSPHRASE)).toMatchObject({ authenticated: true, warnings: [] });
  expect(await verify(whole)).toMatchObject({
    authenticated: null,
    warnings: [expect.stringContaining("no passphrase")],
  });
  await expect(verify(whole, undefined, true)).rejects.toThrow("not authenticated");
  await expect(verify(whole, "wrong horse")).rejects.toThrow("does not authenticate");
  // everything fits together, and was written with another passphrase, or none
  await expect(verify(await compose({ passphrase: "their horse" }), PASSPHRASE)).rejects.toThrow(
    "does not authenticate",
  );
  await expect(verify(await compose({ passphrase: undefined }), PASSPHRASE)).rejects.toThrow(
    "written without a passphrase",
  );
  // one that an earlier version has written: it could not authenticate
  const old = await compose({ introduction: { format: 1 }, passphrase: undefined });
  expect(await verify(old, PASSPHRASE)).toMatchObject({
    authenticated: false,
    warnings: [expect.stringContaining("Heddle 9.9.9")],
  });
  await expect(verify(old, PASSPHRASE, true)).rejects.toThrow("not authenticated");
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

test("a restore onto data is rejected, names it, and changes nothing", async () => {
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

const fine = async () => {};

test("an archive that fails midway or cannot be read back leaves no file under its name", async () => {
  const path = join(folder, "failed.tar");
  const place = await openArchivePlace(path, { backupRegion: "" } as never);
  const failing = async function* () {
    yield Buffer.from("begin");
    throw new Error("the source is gone");
  };
  await expect(place.write(failing(), fine)).rejects.toThrow("the source is gone");
  const check = async (chunks: AsyncIterable<Uint8Array>) => void (await readArchive(chunks));
  const broken = inChunks(whole.subarray(0, -512));
  await expect(place.write(broken, check)).rejects.toThrow(/truncated|damaged/);
  expect(readdirSync(folder).filter((name) => name.startsWith("failed"))).toEqual([]);
  // of a backup that was killed
  symlinkSync(join(folder, "elsewhere"), `${path}.partial`);
  await place.write(inChunks(whole), check);
  expect(readFileSync(path).equals(whole)).toBe(true);
  expect(existsSync(join(folder, "elsewhere"))).toBe(false);
  await expect(place.write(inChunks(whole), check)).rejects.toThrow("created by another program");
  expect(readdirSync(folder).filter((name) => name.startsWith("failed"))).toEqual(["failed.tar"]);
});
