import { createHash, randomUUID } from "node:crypto";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { request as send } from "node:http";
import { join } from "node:path";

import { expect, test } from "vitest";

import { testControlPlane } from "../../../test/control-plane.ts";
import { collectGarbage } from "../revisions/collect-garbage.ts";

// no engine listens there: pushing needs none
const control = await testControlPlane({
  HEDDLE_CONTAINER_ENGINE: "unix:///nowhere/engine.sock",
  HEDDLE_LOG_LEVEL: "fatal",
  HEDDLE_REGISTRY_BLOB_MB: "1",
});
const { call, url, dataDir } = control;

const sha256Digest = (body: string | Buffer): string => `sha256:${createHash("sha256").update(body).digest("hex")}`;

async function deployment(name: string): Promise<{ id: string; token: string }> {
  const created = await call("POST", "/v2/deployments", {
    name,
    source: "internal_docker",
    source_config: { deployment_type: "prod" },
    source_revision_config: {},
    secrets: [],
  });
  expect(`${created.status} ${created.text}`).toMatch(/^201/);
  const response = await fetch(`${url}/v2/deployments/${created.json.id}/push-token`, { method: "POST" });
  const { token, registry_url: registry } = (await response.json()) as { token: string; registry_url: string };
  expect(registry).toBe(`${url}/d/${created.json.id}`);
  return { id: created.json.id, token };
}

const mine = await deployment("mine");
const other = await deployment("other");

const basic = (password: string, user = "oauth2accesstoken") =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
const ask = (
  method: string,
  path: string,
  options: { body?: string | Buffer; headers?: object; token?: string } = {},
) =>
  fetch(url + path, {
    method,
    headers: { authorization: basic(options.token ?? mine.token), ...options.headers },
    ...(options.body !== undefined && { body: new Uint8Array(Buffer.from(options.body)) }),
  });
const at = (rest: string, name = "agent", id = mine.id) => `/v2/d/${id}/${name}/${rest}`;
const statusAndCode = async (response: Response) =>
  `${response.status} ${((await response.json()) as { errors: [{ code: string }] }).errors[0].code}`;

async function push(body: string | Buffer, name?: string): Promise<string> {
  const digest = sha256Digest(body);
  const response = await ask("POST", at(`blobs/uploads/?digest=${digest}`, name), { body });
  expect(response.status).toBe(201);
  return digest;
}

async function pushImage(tag: string, text: string): Promise<string> {
  const [config, layer] = [await push(JSON.stringify({ text })), await push(`layer of ${text}`)];
  const manifest = JSON.stringify({
    schemaVersion: 2,
    mediaType: "application/vnd.oci.image.manifest.v1+json",
    config: { mediaType: "application/vnd.oci.image.config.v1+json", digest: config, size: 1 },
    layers: [{ mediaType: "application/vnd.oci.image.layer.v1.tar+gzip", digest: layer, size: 1 }],
  });
  const response = await ask("PUT", at(`manifests/${tag}`), { body: manifest });
  expect(response.status).toBe(201);
  expect(response.headers.get("docker-content-digest")).toBe(sha256Digest(manifest));
  return sha256Digest(manifest);
}

test("rejects requests without a valid push token with a Basic challenge and nothing else", async () => {
  const bare = await fetch(`${url}/v2/`);
  expect(bare.status).toBe(401);
  expect(bare.headers.get("www-authenticate")).toMatch(/^Basic realm=/);
  expect(bare.headers.get("docker-distribution-api-version")).toBe("registry/2.0");
  expect((await ask("GET", "/v2/")).status).toBe(200);
  expect((await ask("GET", "/v2/", { token: `${mine.token.slice(0, -1)}!` })).status).toBe(401);
  const [head, expires, seal] = mine.token.split(".");
  const longer = [head, Number(expires) + 1000, seal].join(".");
  expect((await ask("GET", "/v2/", { token: longer })).status).toBe(401);
  expect((await ask("GET", "/v2/", { token: "" })).status).toBe(401);
  // correctly signed, and expired
  const over = control.control.deps.pushTokens.issue(mine.id, Math.floor(Date.now() / 1000) - 1);
  expect((await ask("GET", "/v2/", { token: over })).status).toBe(401);
  expect(await statusAndCode(await ask("GET", at("tags/list"), { token: other.token }))).toBe("403 DENIED");
});

test("a blob is pushed in one piece, in chunks or by mount, and stored only if its digest matches", async () => {
  const digest = await push("in one piece");
  const head = await ask("HEAD", at(`blobs/${digest}`));
  expect([head.status, head.headers.get("content-length")]).toEqual([200, "12"]);
  expect(await (await ask("GET", at(`blobs/${digest}`))).text()).toBe("in one piece");
  // the blob is shared by other names of the deployment, and unknown to other deployments
  expect((await ask("POST", at(`blobs/uploads/?mount=${digest}&from=d/x/agent`, "second"))).status).toBe(201);
  const otherToken = { token: other.token };
  expect((await ask("HEAD", at(`blobs/${digest}`, "agent", other.id), otherToken)).status).toBe(404);
  const mount = await ask(
    "POST",
    at(`blobs/uploads/?mount=${digest}&from=d/${mine.id}/agent`, "agent", other.id),
    otherToken,
  );
  expect(mount.status).toBe(202);

  const begun = await ask("POST", at("blobs/uploads/"));
  expect(begun.status).toBe(202);
  const uploadUrl = begun.headers.get("location")!;
  const first = await ask("PATCH", uploadUrl, { body: "first, ", headers: { "content-range": "0-6" } });
  expect([first.status, first.headers.get("range")]).toEqual([202, "0-6"]);
  const wrong = await ask("PATCH", uploadUrl, { body: "x", headers: { "content-range": "99-99" } });
  expect(await statusAndCode(wrong)).toBe("416 BLOB_UPLOAD_INVALID");
  expect((await ask("GET", uploadUrl)).headers.get("range")).toBe("0-6");
  const whole = sha256Digest("first, second");
  const ended = await ask("PUT", `${uploadUrl}?digest=${encodeURIComponent(whole)}`, { body: "second" });
  expect([ended.status, ended.headers.get("location")]).toEqual([201, at(`blobs/${whole}`)]);
  expect(await (await ask("GET", at(`blobs/${whole}`))).text()).toBe("first, second");
  expect((await ask("PATCH", uploadUrl, { body: "more" })).status).toBe(404);

  const lied = await ask("POST", at(`blobs/uploads/?digest=${sha256Digest("this")}`), { body: "that" });
  expect(await statusAndCode(lied)).toBe("400 DIGEST_INVALID");
  expect((await ask("HEAD", at(`blobs/${sha256Digest("this")}`))).status).toBe(404);
  const large = Buffer.alloc(1024 * 1024 + 1);
  const rejected = await ask("POST", at(`blobs/uploads/?digest=${sha256Digest(large)}`), { body: large });
  expect(await statusAndCode(rejected)).toBe("413 SIZE_INVALID");
  const cancelled = (await ask("POST", at("blobs/uploads/"))).headers.get("location")!;
  expect((await ask("DELETE", cancelled)).status).toBe(204);
  expect((await ask("GET", cancelled)).status).toBe(404);
});

test("an image is found by tag and digest, and only when all of its blobs exist", async () => {
  const digest = await pushImage("v1", "one");
  for (const reference of ["v1", digest, digest.replace(":", "%3A")]) {
    const found = await ask("GET", at(`manifests/${reference}`));
    expect(found.headers.get("content-type")).toBe("application/vnd.oci.image.manifest.v1+json");
    expect(sha256Digest(await found.text())).toBe(digest);
  }
  expect((await ask("HEAD", at("manifests/v1"))).headers.get("docker-content-digest")).toBe(digest);
  expect(await statusAndCode(await ask("GET", at("manifests/v2")))).toBe("404 MANIFEST_UNKNOWN");
  expect(await statusAndCode(await ask("GET", at(`manifests/${digest}`, "second")))).toBe("404 MANIFEST_UNKNOWN");

  const put = async (body: string, reference = "bad") =>
    statusAndCode(await ask("PUT", at(`manifests/${reference}`), { body }));
  const manifest = (part: object) =>
    JSON.stringify({ schemaVersion: 2, mediaType: "application/vnd.oci.image.manifest.v1+json", ...part });
  expect(await put(manifest({ config: { digest: sha256Digest("nothing") } }))).toBe("404 MANIFEST_BLOB_UNKNOWN");
  expect(await put(manifest({ config: { digest: "sha256:../../x" } }))).toBe("400 DIGEST_INVALID");
  expect(await put("{", "bad")).toBe("400 MANIFEST_INVALID");
  expect(await put("null", "bad")).toBe("400 MANIFEST_INVALID");
  expect(await put(manifest({ layers: "x" }))).toBe("400 MANIFEST_INVALID");
  expect(await put(`{"config":{},"layers":[${"{},".repeat(1_000_000)}{}]}`)).toBe("400 MANIFEST_INVALID");
  expect(await put(`{"config":${"[".repeat(100_000)}`)).toBe("400 MANIFEST_INVALID");
  expect(await put(JSON.stringify({ config: { digest: sha256Digest("x") } }))).toBe("400 MANIFEST_INVALID");
  expect(await put(manifest({ config: { digest } }), sha256Digest("else"))).toBe("400 DIGEST_INVALID");

  await pushImage("v0", "zero");
  await pushImage("v2", "two");
  const list = await ask("GET", at("tags/list"));
  expect(await list.json()).toEqual({ name: `d/${mine.id}/agent`, tags: ["v0", "v1", "v2"] });
  const page = await ask("GET", at("tags/list?n=1&last=v0"));
  expect(await page.json()).toMatchObject({ tags: ["v1"] });
  expect(page.headers.get("link")).toBe(`<${at("tags/list?n=1&last=v1")}>; rel="next"`);
  expect(await statusAndCode(await ask("DELETE", at("manifests/v1")))).toBe("405 UNSUPPORTED");
});

test("no path leaves the deployment's directory", async () => {
  const raw = (path: string) =>
    new Promise<number>((resolve, reject) => {
      const headers = { authorization: basic(mine.token) };
      const { hostname, port } = new URL(url);
      // raw path: fetch would normalize it
      send({ hostname, port, path, headers }, (response) => (response.resume(), resolve(response.statusCode!)))
        .on("error", reject)
        .end();
    });
  for (const name of ["../../other", "..", "%2e%2e/x", "a/../../b", "A", "a~b", "-a", `${"a".repeat(300)}`]) {
    expect([400, 404]).toContain(await raw(at("manifests/v1", name)));
  }
  for (const reference of ["..", "%2e%2e%2fv1", "+x", "sha256:../v1"]) {
    expect([400, 404]).toContain(await raw(at(`manifests/${reference}`)));
    expect([400, 404]).toContain(await raw(at(`blobs/${reference}`)));
  }
  expect(await raw(`/v2/d/${mine.id}/../${other.id}/agent/tags/list`)).toBe(404);
  expect((await fetch(`${url}/v2/deployments/${mine.id}`)).status).toBe(200);
});

test("removes old untagged blobs, and all blobs of a deleted deployment", async () => {
  const home = join(dataDir, "control", "registry", mine.id);
  const blobs = () => readdirSync(join(home, "blobs"));
  const keptDigest = await pushImage("moving", "kept");
  const replaced = await pushImage("moving2", "replaced");
  await pushImage("moving2", "newer");
  const loose = await push("nobody's");
  mkdirSync(join(dataDir, "control", "registry", randomUUID()));
  await collectGarbage(control.control.deps);
  // young parts may belong to a push in progress
  expect(blobs()).toContain(loose.slice(7));
  for (const file of blobs()) utimesSync(join(home, "blobs", file), 1, 1);
  writeFileSync(join(home, "uploads", randomUUID()), "left behind");
  for (const file of readdirSync(join(home, "uploads"))) utimesSync(join(home, "uploads", file), 1, 1);
  await collectGarbage(control.control.deps);
  expect(blobs()).not.toContain(loose.slice(7));
  expect(blobs()).not.toContain(replaced.slice(7));
  expect(readdirSync(join(home, "uploads"))).toEqual([]);
  expect((await ask("GET", at("manifests/moving"))).headers.get("docker-content-digest")).toBe(keptDigest);
  expect(readdirSync(join(dataDir, "control", "registry")).sort()).toEqual([mine.id, other.id].sort());

  expect((await call("DELETE", `/v2/deployments/${mine.id}`)).status).toBe(204);
  expect((await ask("GET", "/v2/")).status).toBe(401);
  await expect
    .poll(async () => (await call("GET", `/v2/deployments/${mine.id}`)).status, { timeout: 30_000 })
    .toBe(404);
  expect(readdirSync(join(dataDir, "control", "registry"))).toEqual([other.id]);
});
