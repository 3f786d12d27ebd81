/** Reuse of packages between builds with the same lock file, with the test's own registry. */
import { createHash } from "node:crypto";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

import { afterAll, expect, test } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import {
  createArchive,
  createDeployment,
  deployArchive,
  graphProject,
  logLines,
  untilStatus,
} from "../../../test/deploy.ts";

const tarball = createArchive({
  "package/package.json": JSON.stringify({ name: "b", version: "1.0.0", type: "module", exports: "./index.js" }),
  "package/index.js": 'export const word = "of the package";',
});
let fetched = 0;
const registry = createServer((_, response) => {
  fetched++;
  response.end(tarball);
}).listen(0, "127.0.0.1");
await new Promise((done) => registry.once("listening", done));
const address = `http://127.0.0.1:${(registry.address() as AddressInfo).port}`;
afterAll(() => registry.close());

const { call, url } = await testControlPlane();
const manifest = { name: "a", version: "1.0.0", dependencies: { b: "1.0.0" } };
const integrity = `sha512-${createHash("sha512").update(tarball).digest("base64")}`;
const b = { version: "1.0.0", resolved: `${address}/b/-/b-1.0.0.tgz`, integrity };
const project = (name: string) => {
  const files = graphProject(name, {
    "package.json": JSON.stringify(manifest),
    "package-lock.json": JSON.stringify({
      ...manifest,
      lockfileVersion: 3,
      packages: { "": manifest, "node_modules/b": b },
    }),
  });
  const graph = `import { word as packaged } from "b";\n${files["graph.mjs"]!.replace(`word: "${name}"`, "word: packaged")}`;
  return createArchive({ ...files, "graph.mjs": graph });
};
const word = async (name: string) => {
  const response = await fetch(`${url}/d/${name}/runs/wait`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ assistant_id: "echo", input: {} }),
  });
  return ((await response.json()) as { word?: string }).word;
};
const build = async (id: string, archive: Buffer, until: string, body: object = {}) => {
  const revision = await deployArchive(call, id, archive, body);
  await untilStatus(call, id, revision, until, 60_000);
  return (await logLines(call, id, revision, "build")).filter((line) => /^\$|reusing its packages/.test(line));
};

test("a new revision with an unchanged lock file reuses its packages, and another deployment installs its own", async () => {
  const id = await createDeployment(call, "taker");
  const first = await deployArchive(call, id, project("one"));
  await untilStatus(call, id, first, "DEPLOYED", 60_000);
  expect(await word("taker")).toBe("of the package");
  const before = fetched;

  expect(await build(id, project("two"), "DEPLOYED")).toEqual([
    `The lock file is unchanged since revision ${first}: reusing its packages.`,
  ]);
  expect(await word("taker")).toBe("of the package");
  expect(fetched).toBe(before);
  // an owner's command may change installed packages
  expect(await build(id, project("three"), "BUILD_FAILED", { source_config: { build_command: "false" } })).toEqual([
    "$ npm ci --prefer-offline --no-audit --no-fund",
    "$ false",
  ]);
  const other = await createDeployment(call, "other");
  expect(await build(other, project("one"), "DEPLOYING")).toEqual(["$ npm ci --prefer-offline --no-audit --no-fund"]);
}, 120_000);
