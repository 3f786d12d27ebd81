import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { inChunks, tarEntry } from "../../../test/archives.ts";
import { FileRestorer } from "./restore-files.ts";
import type { TarEntry } from "./tar.ts";

const folder = mkdtempSync(join(tmpdir(), "heddle-restore-files-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Restores entries of the control plane into a new directory. */
function newRestorer() {
  const target = mkdtempSync(join(folder, "restored-"));
  const restorer = new FileRestorer({
    blobs: join(target, "b"),
    control: join(target, "c"),
    traces: join(target, "t"),
  });
  const content = { chunks: () => inChunks(Buffer.from("x")), whole: () => Promise.resolve(Buffer.of()) };
  const put = (name: string, fields: Partial<TarEntry>) => {
    const entry = { ...tarEntry({ name, ...fields }), section: "control", path: name.split("/") };
    return restorer.restore("control", "", entry, content);
  };
  return { target, restorer, put };
}

test("restores files for this user alone: without owners, special bits and rights of others", async () => {
  const { target, put } = newRestorer();
  await put("folder", { type: "directory", mode: 0o7777, uid: 1 });
  await put("folder/program", { mode: 0o6755, uid: 1, mtime: 1_700_000_000 });
  await put("folder/text", { mode: 0o666 });
  const modes = ["folder", "folder/program", "folder/text"].map((name) => {
    const { mode, uid } = statSync(join(target, "c", name));
    return [mode & 0o7777, uid];
  });
  const uid = process.getuid?.();
  expect(modes).toEqual([
    [0o700, uid],
    [0o700, uid],
    [0o600, uid],
  ]);
  expect(statSync(join(target, "c", "folder/program")).mtimeMs).toBe(1_700_000_000_000);
  await expect(put("folder/text", {})).rejects.toThrow("EEXIST");
  symlinkSync(join(folder, "outside"), join(target, "c", "planted"));
  await expect(put("planted", {})).rejects.toThrow("EEXIST");
  expect(existsSync(join(folder, "outside"))).toBe(false);
});

test("creates links last, and none through which a build could be left", async () => {
  const { target, restorer, put } = newRestorer();
  for (const name of ["builds", "builds/b", "builds/b/src", "builds/b/src/d"]) await put(name, { type: "directory" });
  await put("builds/b/src/a", { type: "link", target: "d" });
  expect(existsSync(join(target, "c/builds/b/src/a"))).toBe(false);
  await put("builds/b/src/d/file", {});
  await restorer.finish();
  expect(readFileSync(join(target, "c/builds/b/src/a/file"), "utf8")).toBe("x");
  // each one stays inside by its text, both together do not
  await put("builds/c", { type: "directory" });
  for (const name of ["builds/c/src", "builds/c/src/x"]) await put(name, { type: "directory" });
  await put("builds/c/src/up", { type: "link", target: "x/l/.." });
  await put("builds/c/src/x/l", { type: "link", target: ".." });
  await expect(restorer.finish()).rejects.toThrow("points outside");
});
