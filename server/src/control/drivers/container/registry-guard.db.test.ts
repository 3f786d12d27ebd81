/** Registries of images pass the outbound guard, like all targets chosen by tenants. */
import { createServer, type Server } from "node:http";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { testControlPlane } from "../../../../test/control-plane.ts";
import { openGuard } from "../../../../test/principal.ts";
import { createOutbound } from "../../../base/outbound/outbound.ts";
import { readPolicy } from "../../../base/outbound/policy.ts";
import type { BuildLog } from "../../logs/log-writer.ts";
import type { BuildParams } from "../driver.ts";
import { prepareImage } from "./prepare-image.ts";
import { Engine } from "./engine.ts";

// a container engine without images, which records the pulls requested of it
const directory = mkdtempSync(join(tmpdir(), "heddle-engine-"));
const socket = join(directory, "engine.sock");
const pulls: string[] = [];
const server: Server = createServer((request, response) => {
  const url = new URL(request.url!, "http://engine");
  if (url.pathname.endsWith("/images/create")) pulls.push(url.searchParams.get("fromImage")!);
  response.setHeader("Api-Version", "1.41");
  const isImage = /\/images\/.+\/json$/.test(url.pathname);
  response.writeHead(isImage ? 404 : 200).end(isImage ? '{"message":"no such image"}' : "[]");
});
await new Promise<void>((resolve) => void server.listen(socket, resolve));
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(directory, { recursive: true, force: true });
});

// with keys, so that loopback is not open either
const { call } = await testControlPlane(
  { HEDDLE_CONTAINER_ENGINE: `unix://${socket}`, HEDDLE_OUTBOUND_ALLOW: "10.0.0.7" },
  { guard: openGuard },
);

const create = (name: string, image_uri: string) =>
  call("POST", "/v2/deployments", {
    name,
    source: "external_docker",
    source_config: { resource_spec: {} },
    source_revision_config: { image_uri },
    secrets: [],
  });

test.each(["127.0.0.1:5000/a/b:1", "169.254.169.254/a:1", "[::1]:5000/a:1", "10.0.0.5/team/a:1", "localhost:5000/a:1"])(
  "rejects an image of %s",
  async (uri) => {
    const { status, json } = await create("rejected", uri);
    expect([status, json.detail[0]?.loc]).toEqual([422, ["body", "source_revision_config", "image_uri"]]);
    expect(json.detail[0].msg).toContain("HEDDLE_OUTBOUND_ALLOW");
    expect(pulls).toEqual([]);
  },
);

test("accepts an image of a registry that the operator allows", async () => {
  expect((await create("allowed", "10.0.0.7:5000/team/a:1")).status).toBe(201);
});

test("does not pull from a registry whose name resolves to a private address", async () => {
  const hosts: string[] = [];
  const outbound = createOutbound(readPolicy("inside.example:5000", false), {
    resolve: (host) => {
      hosts.push(host);
      if (host === "unknown.example") return Promise.reject(new Error("ENOTFOUND"));
      return Promise.resolve([{ address: host === "public.example" ? "93.184.215.14" : "10.1.2.3", family: 4 }]);
    },
  });
  const engine = new Engine(`unix://${socket}`);
  const prepare = (imageUri: string) =>
    prepareImage({
      engine,
      outbound,
      params: { imageUri, source: "external_docker", deploymentId: "d", revisionId: "r", config: {} } as BuildParams,
      images: { kind: "remote", credentials: { username: "u", password: "p" } },
      settings: { containerPull: "always", containerRegistryConfig: undefined },
      log: { write() {} } as unknown as BuildLog,
      signal: new AbortController().signal,
    }).then(
      () => "prepared",
      (error: Error) => `${error.name}: ${error.message}`,
    );
  pulls.length = 0;
  expect(await prepare("rebound.example/team/a:1")).toMatch(
    /^BuildError: .*rebound\.example leads to a private address/,
  );
  expect(pulls).toEqual([]);
  // allowed by name, public, unknown here but possibly known to the engine, and the default registry
  for (const uri of ["inside.example:5000/a:1", "public.example/a:1", "unknown.example/a:1", "team/a:1"])
    await prepare(uri);
  expect(pulls).toEqual(["inside.example:5000/a", "public.example/a", "unknown.example/a", "team/a"]);
  expect(hosts).not.toContain("docker.io");
  engine.close();
  await outbound.close();
});
