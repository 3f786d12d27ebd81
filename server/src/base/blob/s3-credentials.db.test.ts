/** Default sources of credentials, in the order of the SDK's standard chain. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text as readText } from "node:stream/consumers";

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";

import { type TestCredentials, testS3 } from "../../../test/s3.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { readPolicy } from "../outbound/policy.ts";
import { openS3Bucket } from "./s3-bucket.ts";

const outbound = createOutbound(readPolicy("", true));
const directory = mkdtempSync(join(tmpdir(), "heddle-credentials-"));
const before = { ...process.env };
const s3 = await testS3();
s3.createBucket("exports");
let services: Server;
let endpoint: string;
let requests: string[] = [];
/** Credentials issued by the token service and the instance's metadata service. */
let lent: TestCredentials;

beforeAll(async () => {
  lent = s3.createKey({ sessionToken: "lent-for-an-hour" });
  services = createServer((request, response) => {
    void answer(request).then((body) => response.writeHead(body === null ? 404 : 200).end(body ?? ""));
  });
  await new Promise<void>((resolve) => services.listen(0, "127.0.0.1", resolve));
  endpoint = `http://127.0.0.1:${(services.address() as AddressInfo).port}`;
});

beforeEach(() => {
  requests = [];
  for (const name of Object.keys(process.env)) if (name.startsWith("AWS_")) delete process.env[name];
  process.env.HOME = directory;
  process.env.AWS_EC2_METADATA_DISABLED = "true";
});
afterEach(() => {
  process.env = { ...before };
});
afterAll(async () => {
  await outbound.close();
  services.closeAllConnections();
  await new Promise((resolve) => services.close(resolve));
  rmSync(directory, { recursive: true });
});

/** Simulates AWS's token service and an instance's metadata service. */
async function answer(request: IncomingMessage): Promise<string | null> {
  const { method, url = "/" } = request;
  const body = await readText(request);
  requests.push(`${method} ${url}`);
  const { access_key_id: id, secret_access_key: secret, session_token: token } = lent;
  const until = new Date(Date.now() + 3_600_000).toISOString();
  if (url === "/latest/api/token") return "a-session";
  if (url === "/latest/meta-data/iam/security-credentials/") return "the-role";
  if (url === "/latest/meta-data/iam/security-credentials/the-role") {
    const keys = { AccessKeyId: id, SecretAccessKey: secret, Token: token, Expiration: until };
    return JSON.stringify({ Code: "Success", Type: "AWS-HMAC", LastUpdated: until, ...keys });
  }
  if (!new URLSearchParams(body).get("WebIdentityToken")?.startsWith("the-token")) return null;
  return `<AssumeRoleWithWebIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/">
    <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>${id}</AccessKeyId>
    <SecretAccessKey>${secret}</SecretAccessKey><SessionToken>${token}</SessionToken>
    <Expiration>${until}</Expiration></Credentials></AssumeRoleWithWebIdentityResult>
    </AssumeRoleWithWebIdentityResponse>`;
}

const write = async (name: string): Promise<boolean> => {
  const bucket = await openS3Bucket({ bucket: "exports", endpoint: s3.endpoint, credentials: null }, outbound);
  await bucket.put(name, Buffer.from(name));
  return (await s3.read("exports", name)).toString() === name;
};

test("the environment", async () => {
  const key = s3.createKey({ sessionToken: "a-token" });
  process.env.AWS_ACCESS_KEY_ID = key.access_key_id;
  process.env.AWS_SECRET_ACCESS_KEY = key.secret_access_key;
  process.env.AWS_SESSION_TOKEN = key.session_token;
  expect(await write("environment")).toBe(true);
});

test("a profile", async () => {
  const key = s3.createKey();
  const file = join(directory, "credentials");
  const lines = ["[exporter]", `aws_access_key_id = ${key.access_key_id}`];
  writeFileSync(file, [...lines, `aws_secret_access_key = ${key.secret_access_key}`, ""].join("\n"));
  process.env.AWS_SHARED_CREDENTIALS_FILE = file;
  process.env.AWS_PROFILE = "exporter";
  expect(await write("profile")).toBe(true);
});

test("a web identity", async () => {
  const file = join(directory, "token");
  writeFileSync(file, "the-token of a pod");
  process.env.AWS_WEB_IDENTITY_TOKEN_FILE = file;
  process.env.AWS_ROLE_ARN = "arn:aws:iam::123456789012:role/exporter";
  process.env.AWS_ENDPOINT_URL_STS = endpoint;
  expect(await write("web-identity")).toBe(true);
  expect(requests).toEqual(["POST /"]);
});

test("an instance's role", async () => {
  delete process.env.AWS_EC2_METADATA_DISABLED;
  process.env.AWS_EC2_METADATA_SERVICE_ENDPOINT = endpoint;
  expect(await write("instance-role")).toBe(true);
  expect(requests.at(-1)).toBe("GET /latest/meta-data/iam/security-credentials/the-role");
});

test("reports missing credentials", async () => {
  await expect(write("none")).rejects.toMatchObject({ reason: "no_credentials", canHeal: false });
});
