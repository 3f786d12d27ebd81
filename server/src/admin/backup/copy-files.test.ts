import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chownSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { EMPTY_MANIFEST, inChunks, INTRODUCED } from "../../../test/archives.ts";
import { readArchive } from "./archive-reader.ts";
import { ArchiveWriter } from "./archive-writer.ts";
import { controlCopy } from "./control-files.ts";
import { type CopyOptions, copyFiles, describeProblems } from "./copy-files.ts";
import { INTRODUCTION } from "./manifest.ts";

const folder = mkdtempSync(join(tmpdir(), "heddle-copy-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
/** A system user as deployments have them. */
const DEPLOYMENT_USER = 2_077_216_992;

/** Copies a directory, and returns its entries by their names. */
async function copied(directory: string, options: CopyOptions = {}, onEntry: (name: string) => void = () => {}) {
  const archive = new ArchiveWriter();
  const chunks: Buffer[] = [Buffer.concat([...archive.file(INTRODUCTION, Buffer.from(JSON.stringify(INTRODUCED)))])];
  const copying = copyFiles(archive, directory, "control", options);
  let next = await copying.next();
  for (; !next.done; next = await copying.next()) {
    chunks.push(Buffer.from(next.value));
    // a header
    if (next.value.toString("latin1", 257, 262) === "ustar")
      onEntry(next.value.toString("utf8", 0, 100).replace(/\0.*/s, ""));
  }
  for (const chunk of archive.end(EMPTY_MANIFEST, undefined)) chunks.push(chunk);
  const found: Record<string, string> = {};
  await readArchive(inChunks(Buffer.concat(chunks), 65_536), {
    async handle({ path, type, target }, content) {
      found[path.join("/")] = type === "file" ? (await content.whole(2 ** 24)).toString() : `${type} ${target}`.trim();
    },
  });
  return { found, problems: describeProblems(next.value), counts: next.value };
}

function newTree(): { tree: string; secret: string } {
  const tree = mkdtempSync(join(folder, "tree-"));
  const secret = mkdtempSync(join(folder, "secret-"));
  writeFileSync(join(secret, "file"), "SECRET");
  mkdirSync(join(tree, "a"));
  writeFileSync(join(tree, "a", "file"), "own");
  writeFileSync(join(tree, "b"), "own");
  return { tree, secret };
}

const replaceByLink = (path: string, target: string) => {
  renameSync(path, `${path}.moved`);
  symlinkSync(target, path);
};

test("follows no link that replaces a directory or file while it is copied", async () => {
  // after the directory's entry
  const first = newTree();
  const late = await copied(first.tree, {}, (name) => {
    if (name === "control/a") replaceByLink(join(first.tree, "a"), first.secret);
  });
  expect(late.found).toMatchObject({ a: "directory", "a/file": "own", b: "own" });
  // between the look at it and its opening
  for (const [path, target] of [
    ["a", "."],
    ["b", "file"],
    ["a/file", "file"],
  ] as const) {
    const { tree, secret } = newTree();
    const beforeOpen = (below: string) => {
      if (below === path) replaceByLink(join(tree, path), join(secret, target));
    };
    const { found, problems } = await copied(tree, { beforeOpen });
    expect(JSON.stringify(found)).not.toContain("SECRET");
    expect(found[path]).toBeUndefined();
    expect(problems).toEqual([expect.stringMatching(`replaced at that moment: "control/${path}"`)]);
  }
});

test("copies nothing that replaces a file or directory, whatever it is", async () => {
  const replacements: Record<string, (path: string, secret: string) => void> = {
    "another file": (path, secret) => renameSync(join(secret, "file"), path),
    "a pipe": (path) => void execFileSync("mkfifo", [path]),
    "a directory": (path, secret) => renameSync(secret, path),
  };
  for (const [kind, replace] of Object.entries(replacements)) {
    const { tree, secret } = newTree();
    const beforeOpen = (below: string) => {
      if (below !== "b") return;
      renameSync(join(tree, "b"), join(secret, "moved"));
      replace(join(tree, "b"), secret);
    };
    const { found, problems } = await copied(tree, { beforeOpen });
    expect([kind, JSON.stringify(found).includes("SECRET"), found["b"]]).toEqual([kind, false, undefined]);
    expect(problems).toHaveLength(1);
  }
});

test("leaves out links, pipes and names that are not text, and says so", async () => {
  const { tree, secret } = newTree();
  symlinkSync(join(secret, "file"), join(tree, "link"));
  execFileSync("mkfifo", [join(tree, "pipe")]);
  writeFileSync(Buffer.concat([Buffer.from(`${tree}/bytes-`), Buffer.of(0xff, 0xfe)]), "x");
  const { found, problems } = await copied(tree);
  expect(Object.keys(found).toSorted()).toEqual(["a", "a/file", "b"]);
  expect(problems.toSorted()).toEqual([
    expect.stringContaining("names are not UTF-8"),
    expect.stringContaining("they are links"),
    expect.stringContaining("neither files nor directories"),
  ]);
});

test("copies one of several names that have the same text, and says so", async () => {
  const { tree } = newTree();
  for (const end of [[0xff], [0xfe], [0xef, 0xbf, 0xbd]]) {
    writeFileSync(Buffer.concat([Buffer.from(join(tree, "a", "x")), Buffer.from(end)]), String(end));
    mkdirSync(Buffer.concat([Buffer.from(join(tree, "d")), Buffer.from(end)]));
  }
  const { found, problems } = await copied(tree);
  expect(found).toMatchObject({ "a/x\ufffd": "239,191,189", "d\ufffd": "directory" });
  expect(problems).toEqual([expect.stringMatching(/^4 paths are .* names are not UTF-8/)]);
});

test("copies a file that is written meanwhile in the size that it had when it was opened", async () => {
  const { tree } = newTree();
  writeFileSync(join(tree, "grows"), Buffer.alloc(3 * 1024 ** 2, "x"));
  writeFileSync(join(tree, "shrinks"), Buffer.alloc(3 * 1024 ** 2, "x"));
  const { found, problems } = await copied(tree, {}, (name) => {
    if (name === "control/grows") appendFileSync(join(tree, "grows"), "more");
    if (name === "control/shrinks") truncateSync(join(tree, "shrinks"), 1000);
  });
  expect(found["grows"]).toBe("x".repeat(3 * 1024 ** 2));
  expect(found["shrinks"]?.length).toBe(3 * 1024 ** 2);
  expect(found["shrinks"]).toMatch(/^x+\0+$/);
  expect(problems).toEqual([expect.stringMatching("became shorter.*control/shrinks")]);
});

test.skipIf(process.getuid?.() !== 0)(
  "a deployment cannot name a file of another user by a hard link in its build",
  async () => {
    const { tree, secret } = newTree();
    const source = join(tree, "builds", "id", "src");
    mkdirSync(source, { recursive: true });
    chownSync(source, DEPLOYMENT_USER, DEPLOYMENT_USER);
    linkSync(join(secret, "file"), join(source, "theirs"));
    for (const name of ["own", "twice"]) {
      if (name === "own") writeFileSync(join(source, name), "own");
      else linkSync(join(source, "own"), join(source, name));
      chownSync(join(source, name), DEPLOYMENT_USER, DEPLOYMENT_USER);
    }
    const { found, problems } = await copied(tree, controlCopy({ copied: new Set(["id"]), leftOut: 0, notes: [] }));
    expect(found).toMatchObject({ "builds/id/src/own": "own", "builds/id/src/twice": "own" });
    expect(JSON.stringify(found)).not.toContain("SECRET");
    expect(problems).toEqual([expect.stringContaining("files of other users")]);
  },
);
