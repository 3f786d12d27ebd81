import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { atEnd } from "../../../../test/at-end.ts";
import { buildRegistry, isBuildRepository, readBuildCredentials } from "./build-registry.ts";

const named = (kubernetesRegistry: string | undefined, kubernetesRegistryConfig?: string) => ({
  kubernetesRegistry,
  kubernetesRegistryConfig,
});

test("reads a repository with the host of its registry, and rejects all other names at the start", () => {
  expect(buildRegistry(named(undefined))).toBeNull();
  expect(buildRegistry(named("registry.example:5000/team/heddle"))).toEqual({
    registry: "registry.example:5000",
    repository: "registry.example:5000/team/heddle",
  });
  expect(buildRegistry(named("docker.io/team/heddle"))?.registry).toBe("docker.io");
  for (const name of [
    "heddle",
    "team/heddle",
    "registry.example/a:1",
    "https://registry.example/a",
    "registry.example/",
  ]) {
    expect(() => buildRegistry(named(name))).toThrow(/HEDDLE_KUBERNETES_REGISTRY must be a repository/);
  }
});

test("recognizes images of the repository by tag and by digest, and no others", () => {
  const settings = named("registry.example/team/heddle");
  const digest = `sha256:${"a".repeat(64)}`;
  const is = (uri: string) => isBuildRepository(settings, uri);
  expect(["registry.example/team/heddle:1", `Registry.example/team/heddle@${digest}`].map(is)).toEqual([true, true]);
  expect(["registry.example/team/heddle/agent:1", "registry.example/team:1", "heddle"].map(is)).toEqual(
    Array(3).fill(false),
  );
  expect(isBuildRepository(named(undefined), "registry.example/team/heddle:1")).toBe(false);
});

test("reads the credentials of its registry from the file each time, and quotes none of them in an error", async () => {
  const directory = mkdtempSync(join(tmpdir(), "heddle-login-"));
  atEnd(() => rmSync(directory, { recursive: true }));
  const file = join(directory, "login.json");
  const settings = named("registry.example/team/heddle", file);
  await expect(readBuildCredentials(settings)).rejects.toThrow(/HEDDLE_KUBERNETES_REGISTRY_CONFIG: .* cannot be read/);
  const auth = (pair: string) => ({ auth: Buffer.from(pair).toString("base64") });
  writeFileSync(file, JSON.stringify({ auths: { "registry.example": auth("me:first"), other: auth("you:no") } }));
  expect(await readBuildCredentials(settings)).toEqual({ username: "me", password: "first" });
  writeFileSync(file, JSON.stringify({ auths: { "https://registry.example": auth("me:second") } }));
  expect(await readBuildCredentials(settings)).toEqual({ username: "me", password: "second" });
  writeFileSync(file, '{"auths": {"registry.example": "hidden-word"}}');
  const message = await readBuildCredentials(settings).then(String, (error: Error) => error.message);
  expect(message).toContain("HEDDLE_KUBERNETES_REGISTRY_CONFIG");
  expect(message).not.toContain("hidden-word");
  expect(await readBuildCredentials(named("registry.example/team/heddle"))).toBeNull();
});
