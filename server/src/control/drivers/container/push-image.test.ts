import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { expect, test } from "vitest";

import { atEnd } from "../../../../test/at-end.ts";
import { BuildError } from "../../builds/build-error.ts";
import { Engine, EngineUnreachableError } from "./engine.ts";
import { pushImage, type PushParams } from "./push-image.ts";

const DIGEST = `sha256:${"b".repeat(64)}`;
/** Lines of engines at the end of a push. */
const PODMAN = { status: `a.b.1: digest: ${DIGEST} size: 495` };
const DOCKER = { progressDetail: {}, aux: { Tag: "a.b.1", Digest: DIGEST, Size: 495 } };
const failed = (message: string) => ({ errorDetail: { message }, error: message });
const DOWN = failed(
  'trying to reuse blob sha256:1 at destination: pinging container registry registry.example: Get "https://registry.example/v2/": dial tcp: connection refused',
);

/** Starts a server that answers each push with the next lines, as an engine does. */
async function answering(...answers: (object[] | ((response: ServerResponse) => void))[]) {
  const logins: unknown[] = [];
  const server = createServer((request, response) => {
    if (request.url!.endsWith("/_ping")) return void response.setHeader("api-version", "1.41").end("OK");
    expect(`${request.method} ${request.url}`).toBe("POST /v1.41/images/registry.example/team/heddle/push?tag=a.b.1");
    const header = String(request.headers["x-registry-auth"]);
    // Podman rejects a header without padding
    expect(header.length % 4).toBe(0);
    logins.push(JSON.parse(Buffer.from(header, "base64url").toString()));
    const answer = answers.shift() ?? [];
    if (typeof answer === "function") return answer(response);
    response.end(answer.map((line) => JSON.stringify(line)).join("\n"));
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  const engine = new Engine(`tcp://127.0.0.1:${(server.address() as AddressInfo).port}`);
  atEnd(async () => {
    engine.close();
    server.closeAllConnections();
    await new Promise((done) => server.close(done));
  });
  const lines: string[] = [];
  let password = 0;
  const push = (change: Partial<PushParams> = {}) =>
    pushImage(engine, {
      reference: { registry: "registry.example", name: "registry.example/team/heddle", tag: "a.b.1", digest: null },
      credentials: async () => ({ username: "me", password: `secret-${++password}` }),
      write: (line) => lines.push(line),
      signal: new AbortController().signal,
      pausesMs: [1, 2],
      ...change,
    });
  return { push, logins, lines };
}

test("returns the digest that the registry has, as Podman and as Docker report it", async () => {
  const { push } = await answering([{ status: "The push refers to repository" }, PODMAN], [DOCKER]);
  expect(await push()).toBe(DIGEST);
  expect(await push({ credentials: async () => null })).toBe(DIGEST);
});

test("tries again while the registry does not respond, with credentials that are read again", async () => {
  const { push, logins, lines } = await answering([DOWN], [DOWN], [PODMAN]);
  expect(await push()).toBe(DIGEST);
  expect(logins).toEqual(
    [1, 2, 3].map((n) => ({ username: "me", password: `secret-${n}`, serveraddress: "registry.example" })),
  );
  expect(lines.filter((line) => line.includes("connection refused. Retrying in"))).toHaveLength(2);
  expect(lines.join("\n")).not.toContain("secret-");
});

test("gives up after the last attempt, and names what to do", async () => {
  const { push } = await answering([DOWN], [DOWN], [DOWN], [PODMAN]);
  const error: unknown = await push().catch((error: unknown) => error);
  expect(error).toBeInstanceOf(BuildError);
  expect((error as Error).message).toMatch(/registry\.example in 3 attempts: pinging .* deploy the same source again/);
});

test("does not repeat a push that the registry has rejected", async () => {
  const { push, logins } = await answering([
    failed("checking whether a blob exists: unauthorized: authentication required"),
  ]);
  await expect(push()).rejects.toThrow(/rejected the image: unauthorized.*HEDDLE_KUBERNETES_REGISTRY_CONFIG/);
  expect(logins).toHaveLength(1);
});

test("an engine that becomes unavailable is no failure of the build, and an interrupt ends a pause", async () => {
  const { push } = await answering((response) => response.destroy());
  await expect(push()).rejects.toBeInstanceOf(EngineUnreachableError);
  const other = await answering([DOWN]);
  const interrupt = new AbortController();
  setTimeout(() => interrupt.abort(new Error("interrupted")), 100);
  await expect(other.push({ signal: interrupt.signal, pausesMs: [60_000] })).rejects.toThrow(/interrupted|aborted/);
});
