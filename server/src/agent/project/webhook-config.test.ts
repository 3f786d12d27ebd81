import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, expect, test } from "vitest";

import { readProject } from "./read-project.ts";

const dir = mkdtempSync(join(tmpdir(), "heddle-webhooks-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
const file = join(dir, "langgraph.json");

async function rules(webhooks: unknown, env: Record<string, string> = {}, more: object = {}) {
  writeFileSync(file, JSON.stringify({ graphs: { agent: "./agent.ts:graph" }, webhooks, ...more }));
  return (await readProject(file, env)).webhooks;
}

test("applies defaults without the webhooks key", async () => {
  expect(await rules(undefined)).toEqual({
    source: "webhooks.url",
    disabled: false,
    headers: {},
    requireHttps: false,
    allowedDomains: null,
    allowedPorts: null,
    maxUrlLength: 65_536,
    disableLoopback: false,
  });
  expect(await rules(undefined, {}, { http: { disable_webhooks: true } })).toMatchObject({ disabled: true });
});

test("fills templates from the environment, which overrides the project's variables", async () => {
  const headers = { Authorization: "Bearer ${{ env.LG_WEBHOOK_A }}-${{env.LG_WEBHOOK_B}}", "X-Plain": "as it is" };
  const env = { env: { LG_WEBHOOK_A: "project", LG_WEBHOOK_B: "b" } };
  expect((await rules({ headers }, { LG_WEBHOOK_A: "server" }, env)).headers).toEqual({
    authorization: "Bearer server-b",
    "x-plain": "as it is",
  });
  const own = { env_prefix: "HOOK_", headers: { "X-A": "${{ env.HOOK_A }}" } };
  expect((await rules(own, { HOOK_A: "1" })).headers).toEqual({ "x-a": "1" });
});

test.each<[unknown, Record<string, string>, RegExp]>([
  [{ headers: { A: "${{ env.LG_WEBHOOK_A }}" } }, {}, /headers\.A needs the variable LG_WEBHOOK_A, which is not set/],
  [{ headers: { A: "${{ env.DATABASE_URI }}" } }, { DATABASE_URI: "x" }, /names DATABASE_URI.*begin with LG_WEBHOOK_/],
  [{ env_prefix: "H_", headers: { A: "${{ env.LG_WEBHOOK_A }}" } }, { LG_WEBHOOK_A: "x" }, /begin with H_/],
  [{ headers: { A: "${{ secrets.A }}" } }, {}, /a template that is not \${{ env\.NAME }}/],
  [{ headers: { A: "Bearer ${{ env.LG_WEBHOOK_A }" } }, {}, /headers\.A has a template without a closing }}/],
  [
    { headers: { A: "${{ env.LG_WEBHOOK_A }}" } },
    { LG_WEBHOOK_A: "a\r\nb: c" },
    /characters that are not allowed in a header/,
  ],
  [{ headers: { "Content-Type": "x" } }, {}, /set by the server itself/],
  [{ headers: { "webhook-id": "x" } }, {}, /set by the server itself/],
  [{ headers: { Host: "x" } }, {}, /set by the server itself/],
  [{ headers: { "a b": "x" } }, {}, /must be header names/],
  [{ headers: { A: 1 } }, {}, /webhooks\.headers\.A: /],
  [{ headers: [] }, {}, /webhooks\.headers: /],
  [{ env_prefix: "" }, {}, /webhooks\.env_prefix: /],
  [{ url: "https://x" }, {}, /webhooks\.url: /],
  [{ url: { require_https: "yes" } }, {}, /webhooks\.url\.require_https: /],
  [{ url: { allowed_domains: "hooks.example" } }, {}, /webhooks\.url\.allowed_domains: /],
  [
    { url: { allowed_domains: ["https://hooks.example"] } },
    {},
    /webhooks\.url\.allowed_domains\.0: must be host names/,
  ],
  [{ url: { allowed_domains: ["a.*.example"] } }, {}, /allowed_domains\.0: must be host names/],
  [{ url: { allowed_ports: ["443"] } }, {}, /webhooks\.url\.allowed_ports\.0: /],
  [{ url: { allowed_ports: [0] } }, {}, /webhooks\.url\.allowed_ports\.0: /],
  [{ url: { max_url_length: 0 } }, {}, /webhooks\.url\.max_url_length: /],
  [{ url: { max_url_length: "long" } }, {}, /webhooks\.url\.max_url_length: /],
  [{ url: { disable_loopback: 1 } }, {}, /webhooks\.url\.disable_loopback: /],
  [5, {}, /webhooks: /],
])("%j prevents the start", async (webhooks, env, message) => {
  await expect(rules(webhooks, env)).rejects.toThrow(message);
});

test("the message for a missing variable contains no other variable's value", async () => {
  const webhooks = { headers: { A: "${{ env.LG_WEBHOOK_A }} ${{ env.LG_WEBHOOK_MISSING }}" } };
  const error: unknown = await rules(webhooks, { LG_WEBHOOK_A: "a-secret" }).catch((thrown: unknown) => thrown);
  expect((error as Error).message).toContain("LG_WEBHOOK_MISSING");
  expect((error as Error).message).not.toContain("a-secret");
});
