import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { ConfigError } from "../base/config/options.ts";
import { holdDirectory } from "./hold-directory.ts";

test("only one control plane at a time holds a directory", async () => {
  const directory = mkdtempSync(join(tmpdir(), "heddle-hold-"));
  const letGo = await holdDirectory(directory);
  const second = holdDirectory(directory);
  await expect(second).rejects.toThrow(
    new RegExp(`^Another control plane, process ${process.pid} since .*, uses ${directory}, and only one `),
  );
  await expect(second).rejects.toBeInstanceOf(ConfigError);
  await letGo();
  await (
    await holdDirectory(directory)
  )();
  rmSync(directory, { recursive: true });
}, 15_000);
