import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { inChunks, tarEntry } from "../../../test/archives.ts";
import { ByteReader, encodeHeader, readHeader, type TarEntry } from "./tar.ts";

/** A system user as deployments have them. */
const DEPLOYMENT_USER = 2_077_216_992;

const UNUSUAL: TarEntry[] = [
  tarEntry({ name: "owner", uid: DEPLOYMENT_USER, gid: DEPLOYMENT_USER }),
  tarEntry({ name: "owners", uid: 2 ** 32 - 2, gid: 2 ** 21 }),
  tarEntry({ name: "early", mtime: -2_208_988_800 }),
  tarEntry({ name: "late", mtime: 253_402_300_799 }),
  tarEntry({ name: "ünï/😀" }),
  tarEntry({ name: "line\nfeed" }),
  tarEntry({ name: "tab\tand\u0001\u007f" }),
  tarEntry({ name: " spaces " }),
  tarEntry({ name: "back\\slash" }),
  tarEntry({ name: "x".repeat(99) }),
  tarEntry({ name: "x".repeat(100) }),
  tarEntry({ name: `${"x".repeat(255)}/${"y".repeat(255)}` }),
  tarEntry({ name: "folder", type: "directory", mode: 0o711 }),
  tarEntry({ name: "link", type: "link", target: `ü\n${"t".repeat(300)}` }),
];

test("keeps any owner, time, name and target, as GNU tar reads them too", async () => {
  const archive = Buffer.concat([...UNUSUAL.map(encodeHeader), Buffer.alloc(1024)]);
  const reader = new ByteReader(inChunks(archive));
  for (const expected of UNUSUAL) expect(await readHeader(reader)).toEqual(expected);
  expect(await readHeader(reader)).toBeUndefined();
  const folder = mkdtempSync(join(tmpdir(), "heddle-tar-"));
  try {
    const file = join(folder, "archive.tar");
    writeFileSync(file, archive);
    const list = (...options: string[]) => execFileSync("tar", [...options, file], { encoding: "utf8" });
    const names = list("--quoting-style=literal", "--show-transformed-names", "-tf");
    expect(names).toBe(UNUSUAL.map(({ name, type }) => `${name}${type === "directory" ? "" : ""}\n`).join(""));
    expect(list("--numeric-owner", "-tvf")).toContain(`${DEPLOYMENT_USER}/${DEPLOYMENT_USER}`);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test.each([0, 1, 8 * 1024 ** 3 - 1, 8 * 1024 ** 3, 9 * 1024 ** 3, 2 ** 50])(
  "keeps a size of %d bytes",
  async (size) => {
    const large = tarEntry({ name: "large", size });
    expect(await readHeader(new ByteReader(inChunks(encodeHeader(large))))).toEqual(large);
  },
);

/** Returns a header block with a change, and its checksum. */
const changedBlock = (change: (block: Buffer) => void): Buffer => {
  const block = encodeHeader(tarEntry({ name: "control/x" }));
  change(block);
  block.write("        ", 148, "latin1");
  const sum = block.reduce((total, byte) => total + byte, 0);
  block.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148, "latin1");
  return block;
};

test.each([
  ["a device", (block: Buffer) => void block.write("3", 156)],
  ["a pipe", (block: Buffer) => void block.write("6", 156)],
  ["a hard link", (block: Buffer) => void block.write("1", 156)],
  ["a pax record", (block: Buffer) => void block.write("x", 156)],
  ["a global pax record", (block: Buffer) => void block.write("g", 156)],
  ["a sparse file", (block: Buffer) => void block.write("S", 156)],
])("rejects %s", async (_, change) => {
  await expect(readHeader(new ByteReader(inChunks(changedBlock(change))))).rejects.toThrow(/type .*, which no backup/);
});

test.each([
  ["a name of 8 GiB", "L", 8 * 1024 ** 3],
  ["a target of a megabyte", "K", 1024 ** 2],
])("rejects %s without reading it", async (_, type, size) => {
  let read = 0;
  async function* endless() {
    yield changedBlock((block) => {
      block.write(type, 156);
      encodeHeader(tarEntry({ name: "x", size })).copy(block, 124, 124, 136);
    });
    for (;;) yield Buffer.alloc(((read += 65_536), 65_536));
  }
  await expect(readHeader(new ByteReader(endless()))).rejects.toThrow("too long");
  expect(read).toBeLessThan(1024 ** 2);
});

test.each([
  ["directory", "5"],
  ["link", "2"],
])("rejects the size of a %s, which has no content", async (_, type) => {
  const block = changedBlock((header) => {
    header.write(type, 156);
    header.write("00000000001", 124);
  });
  await expect(readHeader(new ByteReader(inChunks(block)))).rejects.toThrow("has content");
});

test("rejects a negative size, and a number beyond those of JavaScript", async () => {
  for (const first of [0xff, 0x80]) {
    const block = changedBlock((header) => void header.fill(0xff, 124, 136).writeUInt8(first, 124));
    await expect(readHeader(new ByteReader(inChunks(block)))).rejects.toThrow("a header is not intact");
  }
});

test("reads owners as Heddle 0.6 has written those of deployments", async () => {
  const block = changedBlock((header) => {
    for (const at of [108, 116]) header.writeBigUInt64BE(BigInt(DEPLOYMENT_USER), at);
  });
  const read = await readHeader(new ByteReader(inChunks(block)));
  expect(read).toEqual(tarEntry({ name: "control/x", uid: DEPLOYMENT_USER, gid: DEPLOYMENT_USER }));
});
