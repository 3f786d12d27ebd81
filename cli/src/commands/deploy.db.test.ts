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

test("--env, --env-file and --no-env decide which variables are sent", async () => {
  environment("A=1\nB=2\n");
  await deploy("--env", "B=", "--env", "C=3");
  expect(await variables()).toEqual(["A", "C"]);
  writeFileSync(join(directory, "other.env"), "D=4\n");
  await deploy("--env-file", join(directory, "other.env"), "--env", "E=5");
  expect(await variables()).toEqual(["D", "E"]);
  // the others keep their values, which are not known here
  await deploy("--no-env", "--env", "F=6", "--env", "D=");
  expect(await variables()).toEqual(["E", "F"]);
  await deploy("--no-env");
  expect(await variables()).toEqual(["E", "F"]);
  const config = ["--config", join(directory, "langgraph.json"), "--name", "named", "--url", url];
  await expect(run([...config, "--env-file", join(directory, "none.env")])).rejects.toThrow("there is no file");
  await expect(run([...config, "--scale", "2", "--max-scale", "3"])).rejects.toThrow("Use either it or them");
  await expect(run([...config, "--min-scale", "3", "--max-scale", "2"])).rejects.toThrow("must not be less");
  await expect(run([...config, "--scale", "0"])).rejects.toThrow("from 1 to 100");
});

test("--scale, --min-scale and --max-scale set the number of agent servers, and nothing else", async () => {
  const resources = async () => (await call("GET", "/v2/deployments?name=named")).json.resources[0].source_config;
  await call("PATCH", `/v2/deployments/${(await call("GET", "/v2/deployments?name=named")).json.resources[0].id}`, {
    source_config: { resource_spec: { cpu: 2 } },
  });
  await deploy("--min-scale", "2", "--max-scale", "4");
  expect((await resources()).resource_spec).toMatchObject({ min_scale: 2, max_scale: 4, cpu: 2, cpu_limit: 4 });
  await deploy("--scale", "3");
  expect((await resources()).resource_spec).toMatchObject({ min_scale: 3, max_scale: 3, cpu: 2 });
  await deploy();
  expect((await resources()).resource_spec).toMatchObject({ min_scale: 3, max_scale: 3 });
});

test("names the settings of Heddle that a deployment may not set, and sends the others", async () => {
  environment("HEDDLE_WEBHOK_SECRETS=x\nHEDDLE_STUDIO_AUTH=true\nHEDDLE_AUTH=off\nDATABASE_URI=x\n");
  const output = await deploy();
  expect(output).toContain("Skipped variables that the platform sets: DATABASE_URI\n");
  expect(output).toMatch(
    /Skipped a variable: HEDDLE_WEBHOK_SECRETS is reserved: it is not among .*HEDDLE_WEBHOOK_SECRETS/,
  );
  expect(output).toMatch(/Skipped a variable: HEDDLE_AUTH is reserved/);
  expect(await variables()).toEqual(["HEDDLE_STUDIO_AUTH"]);
});
