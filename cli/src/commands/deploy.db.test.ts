import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test, vi } from "vitest";

import { testControlPlane } from "../../../server/test/control-plane.ts";
import { run } from "./deploy.ts";

const { url, call } = await testControlPlane();
const directory = mkdtempSync(join(tmpdir(), "heddle-deploy-test-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));
// a project whose build fails at once
writeFileSync(join(directory, "langgraph.json"), '{"graphs":{}}');
const environment = (text: string) => writeFileSync(join(directory, ".env"), text);

/** Runs the command until it exits with the build's failure, and returns its output. */
async function deploy(...options: string[]): Promise<string> {
  const printed: string[] = [];
  const writing = vi.spyOn(process.stderr, "write").mockImplementation((chunk) => printed.push(String(chunk)) > 0);
  try {
    const config = ["--config", join(directory, "langgraph.json"), "--name", "named", "--url", url];
    await expect(run([...config, ...options])).rejects.toThrow("BUILD_FAILED");
  } finally {
    writing.mockRestore();
  }
  return printed.join("");
}
const variables = async (): Promise<string[]> => {
  const { json } = await call("GET", "/v2/deployments?name=named");
  return json.resources[0].secrets.map((secret: { name: string }) => secret.name);
};

test("creates a deployment once and reports it, with the platform's variables left out", async () => {
  environment("GREETING=hello\nDATABASE_URI=postgres://nowhere\n");
  const output = await deploy();
  expect(output.match(/Creating the deployment named/g)).toHaveLength(1);
  expect(output.match(/Skipped variables that the platform sets: DATABASE_URI/g)).toHaveLength(1);
  expect(await variables()).toEqual(["GREETING"]);
  expect(await deploy()).not.toContain("Creating");
});

test("keeps variables that the project no longer has, unless --clear-env is given", async () => {
  environment("");
  await deploy();
  expect(await variables()).toEqual(["GREETING"]);
  await deploy("--clear-env");
  expect(await variables()).toEqual([]);
});

test("rejects a directory as langgraph.json with a message that names it", async () => {
  const folder = join(directory, "folder.json");
  mkdirSync(folder);
  await expect(run(["--config", folder, "--url", url])).rejects.toThrow(
    `${folder} is not a file. Pass the path of a langgraph.json`,
  );
});

test("an empty build command removes the earlier one, and rebuilds nothing by itself", async () => {
  await deploy("--build-command", "npm run build", "--install-command", "npm ci");
  const read = async () => (await call("GET", "/v2/deployments?name=named")).json.resources[0];
  expect((await read()).source_config).toMatchObject({ build_command: "npm run build", install_command: "npm ci" });
  await deploy("--build-command", "");
  const cleared = await read();
  expect(cleared.source_config).toMatchObject({ build_command: null, install_command: "npm ci" });
  const { json } = await call("PATCH", `/v2/deployments/${cleared.id}`, { source_config: { install_command: "" } });
  expect(json.source_config.install_command).toBeNull();
  expect(json.latest_revision_id).toBe(cleared.latest_revision_id);
});
