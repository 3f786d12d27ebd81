import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { settingNames } from "../../../server/src/admin/doctor/read-settings.ts";
import { findMisspelled } from "../../../server/src/base/config/misspelled.ts";
import { COMMAND_VARIABLES } from "./known-variables.ts";

const repository = fileURLToPath(new URL("../../..", import.meta.url));
/** Text that looks like a variable: beginnings of names, an error code, a variable of an image's build. */
const NO_VARIABLES = /^HEDDLE_(\w*_|BLOB|CONNECT_LATE|SECRETS|TEST_\w+|HOST|CODE)$/;

function* sources(directory: string): Generator<string> {
  for (const entry of readdirSync(join(repository, directory), { withFileTypes: true })) {
    const path = join(directory, entry.name);
    if (entry.isDirectory() && !/^(node_modules|dist|test|tests|fixtures)$/.test(entry.name)) yield* sources(path);
    else if (/\.(ts|js|mjs|py)$/.test(entry.name) && !entry.name.endsWith(".test.ts")) yield path;
  }
}

test("every variable that Heddle's code names is known, so that none is reported as misspelled", async () => {
  const known = new Set([...COMMAND_VARIABLES, ...(await settingNames())]);
  const unknown = new Set<string>();
  for (const directory of ["cli", "server/src", "host-kit", "graph-host", "graph-host-python"]) {
    for (const path of sources(directory)) {
      for (const [name] of readFileSync(join(repository, path), "utf8").matchAll(/\bHEDDLE_[A-Z0-9_]+/g)) {
        if (!known.has(name) && !NO_VARIABLES.test(name)) unknown.add(`${name} in ${path}`);
      }
    }
  }
  expect([...unknown]).toEqual([]);
});

test("no setting is taken for another one that is misspelled", async () => {
  const known = new Set([...COMMAND_VARIABLES, ...(await settingNames())]);
  expect(findMisspelled([...known], known)).toEqual({ misspelled: [], unknown: [] });
});
