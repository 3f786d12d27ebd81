import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { atEnd } from "../../../test/at-end.ts";
import { readProject } from "../project/read-project.ts";
import { loadCustomHandlers } from "./custom-handlers.ts";

const BLOB = "{ blob: async (_context, bytes) => bytes }";

/** Loads an object with these members as a project's encryption. */
async function load(members: string) {
  const dir = mkdtempSync(join(tmpdir(), "heddle-encryption-"));
  atEnd(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, "encryption.js"), `export const encryption = ${members};`);
  const config = { graphs: {}, encryption: { path: "./encryption.js:encryption" } };
  writeFileSync(join(dir, "langgraph.json"), JSON.stringify(config));
  const python = { convertKey: () => Promise.reject(new Error("is not Python")) };
  return loadCustomHandlers(await readProject(join(dir, "langgraph.json"), {}), python);
}

test("handlers for blobs are used, and those that Heddle does not call are rejected with the reason", async () => {
  const handlers = await load(`{ encrypt: ${BLOB}, decrypt: ${BLOB} }`);
  expect(await handlers!.wrap("id", Buffer.from("key"))).toEqual(Buffer.from("key"));
  const json = "{ blob: async (_context, bytes) => bytes, json: async (_context, data) => data }";
  await expect(load(`{ encrypt: ${json}, decrypt: ${json} }`)).rejects.toThrow(
    /"json", which Heddle does not call: .* metadata/,
  );
  await expect(load(`{ encrypt: ${BLOB}, decrypt: ${json} }`)).rejects.toThrow(/Remove encrypt.json and decrypt.json/);
  await expect(load(`{ encrypt: ${BLOB}, decrypt: ${BLOB}, context: async () => ({}) }`)).rejects.toThrow(/"context"/);
  await expect(load(`{ encrypt: ${BLOB} }`)).rejects.toThrow(/must be \{encrypt/);
});
