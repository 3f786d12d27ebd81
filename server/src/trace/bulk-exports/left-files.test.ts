import { mkdirSync, mkdtempSync, readdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { removeLeftFiles } from "./left-files.ts";

test("removes files of a killed process, and keeps files that may be in use", async () => {
  const directory = mkdtempSync(join(tmpdir(), "heddle-left-"));
  try {
    const threeHoursAgo = Date.now() / 1000 - 3 * 3600;
    for (const name of ["own", "killed", "working"]) {
      mkdirSync(join(directory, name, "export-1"), { recursive: true });
      const file = join(directory, name, "export-1", "runs-00001.parquet");
      writeFileSync(file, "rows");
      const old = [join(directory, name), join(directory, name, "export-1"), ...(name === "working" ? [] : [file])];
      for (const path of old) utimesSync(path, threeHoursAgo, threeHoursAgo);
    }
    await removeLeftFiles(directory, "own");
    expect(readdirSync(directory)).toEqual(["own", "working"]);
  } finally {
    rmSync(directory, { recursive: true });
  }
});
