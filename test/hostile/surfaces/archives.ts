/**
 * Backup archives: a real one whose entries are renamed, replaced, repeated, reordered, turned into links, or whose bytes
 * are changed. A change of what is in it is noticed, whatever it is.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import fc from "fast-check";

import { sizes } from "../json-values.ts";
import { encodePieces, type Pieces } from "../pieces.ts";
import type { Outcome, Session, Surface } from "../surface.ts";

type Change =
  | { kind: "byte"; at: number; value: number }
  | { kind: "cut"; at: number }
  | { kind: "remove" | "repeat" | "swap"; entry: number }
  | { kind: "rename"; entry: number; name: string }
  | { kind: "type"; entry: number; type: string; link: string }
  | { kind: "size"; entry: number; size: string }
  | { kind: "content"; entry: number; content: Pieces }
  | { kind: "append"; content: Pieces };

const NAMES = [
  "../x",
  "/etc/x",
  "control/../../x",
  "control/x",
  "blobs/x",
  "secrets.keys",
  "manifest.json",
  "heddle-backup.json",
  "keys/keys.sealed",
  "a\0b",
  "",
  "x".repeat(99),
  "postgres/heddle/../x/0.gz",
  "traces/__proto__/x",
  ".",
];

export const archives: Surface<Change[]> = {
  name: "archives",
  servers: ["control"],
  weight: 0.5,
  inputs() {
    const entry = fc.nat(400);
    const content = fc.oneof(
      fc.constantFrom<Pieces>([], ["{}"], ["null"], ["["], [{ hex: "1f8b0800" }]),
      sizes().map((times): Pieces => [{ repeat: "[", times }]),
      sizes().map((times): Pieces => ["[", { repeat: "{},", times }, "{}]"]),
    );
    const change: fc.Arbitrary<Change> = fc.oneof(
      fc.record({
        kind: fc.constant("byte" as const),
        at: fc.nat(50_000_000),
        value: fc.integer({ min: 1, max: 255 }),
      }),
      fc.record({ kind: fc.constant("cut" as const), at: fc.nat(50_000_000) }),
      fc.record({ kind: fc.constantFrom("remove" as const, "repeat" as const, "swap" as const), entry }),
      fc.record({ kind: fc.constant("rename" as const), entry, name: fc.constantFrom(...NAMES) }),
      fc.record({
        kind: fc.constant("type" as const),
        entry,
        type: fc.constantFrom("1", "2", "3", "5", "L", "x", "g", "S", "\0", "7"),
        link: fc.constantFrom("/etc", "..", "", "control"),
      }),
      fc.record({
        kind: fc.constant("size" as const),
        entry,
        size: fc.constantFrom(
          "00000000000",
          "77777777777",
          "zzz",
          "-0000000001",
          "\x80\0\0\0\0\0\0\xff\xff\xff\xff\xff",
        ),
      }),
      fc.record({ kind: fc.constant("content" as const), entry, content }),
      fc.record({ kind: fc.constant("append" as const), content }),
    );
    const inputs = fc.array(change, { minLength: 1, maxLength: 3 });
    return () => inputs;
  },
  run: readChanged,
};

interface TarPart {
  header: Buffer;
  content: Buffer;
}

const BLOCK = 512;

/** Splits an ordinary tar archive. What follows its last entry is the last part. */
function splitTar(archive: Buffer): { parts: TarPart[]; rest: Buffer } {
  const parts: TarPart[] = [];
  let at = 0;
  while (at + BLOCK <= archive.length && archive[at] !== 0) {
    const header = archive.subarray(at, at + BLOCK);
    const size = Number.parseInt(header.toString("latin1", 124, 135), 8);
    const end = at + BLOCK + Math.ceil(size / BLOCK) * BLOCK;
    parts.push({ header, content: archive.subarray(at + BLOCK, end) });
    at = end;
  }
  return { parts, rest: archive.subarray(at) };
}

function applyChange(archive: Buffer, change: Change): Buffer {
  if (change.kind === "byte") {
    const copy = Buffer.from(archive);
    copy[change.at % copy.length]! ^= change.value;
    return copy;
  }
  if (change.kind === "cut") return archive.subarray(0, change.at % archive.length);
  if (change.kind === "append") return Buffer.concat([archive, encodePieces(change.content)]);
  const { parts, rest } = splitTar(archive);
  if (parts.length === 0) return archive;
  const n = change.entry % parts.length;
  const part = { header: Buffer.from(parts[n]!.header), content: parts[n]!.content };
  const replaced = [...parts.slice(0, n), part, ...parts.slice(n + 1)];
  const write = (text: string, offset: number, length: number) =>
    part.header.fill(0, offset, offset + length).write(text, offset, length, "latin1");
  switch (change.kind) {
    case "remove":
      replaced.splice(n, 1);
      break;
    case "repeat":
      replaced.splice(n, 0, part);
      break;
    case "swap":
      replaced.splice(n, 1);
      replaced.splice((n + 7) % parts.length, 0, part);
      break;
    case "rename":
      write(change.name, 0, 100);
      break;
    case "type":
      write(change.type, 156, 1);
      write(change.link, 157, 100);
      break;
    case "size":
      write(change.size, 124, 12);
      break;
    case "content": {
      const content = encodePieces(change.content);
      write(content.length.toString(8).padStart(11, "0"), 124, 12);
      part.content = Buffer.concat([content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)]);
      break;
    }
  }
  // a changed header has a right checksum, so that the reader goes on
  part.header.fill(" ", 148, 156);
  const sum = part.header.reduce((total, byte) => total + byte, 0);
  part.header.write(`${sum.toString(8).padStart(6, "0")}\0 `, 148);
  return Buffer.concat([...replaced.flatMap(({ header, content }) => [header, content]), rest]);
}

async function readChanged(changes: Change[], { world }: Session): Promise<Outcome> {
  const { file: original, passphrase } = await world.backup();
  const archive = readFileSync(original);
  const changed = changes.reduce<Buffer>((bytes, change) => applyChange(bytes, change), archive);
  const directory = mkdtempSync(join(tmpdir(), "heddle-changed-"));
  try {
    const file = join(directory, "archive.tar");
    writeFileSync(file, changed);
    const reply = await world.archiveReader.read({ file, passphrase });
    if ("died" in reply) return { label: "died", problem: reply.died };
    if (reply.error === null) {
      // bytes that mean nothing, such as padding, may differ
      const isSame = sameContents(archive, changed);
      return { label: "accepted", problem: isSame ? undefined : "a changed archive is accepted" };
    }
    const { message, isExpected } = reply.error;
    return {
      label: isExpected ? "rejected" : "failed",
      problem: isExpected ? undefined : `an internal error: ${message.slice(0, 600)}`,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Whether names and contents are the same, in the same order. */
function sameContents(one: Buffer, other: Buffer): boolean {
  const list = (archive: Buffer) =>
    splitTar(archive).parts.map(({ header, content }) => {
      const size = Number.parseInt(header.toString("latin1", 124, 135), 8);
      return `${header.toString("latin1", 0, 100)} ${header.toString("latin1", 156, 257)} ${content.subarray(0, size).toString("base64")}`;
    });
  return list(one).join("\n") === list(other).join("\n");
}
