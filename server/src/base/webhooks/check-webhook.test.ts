import { expect, test } from "vitest";

import type { AppError } from "../errors.ts";
import { createOutbound } from "../outbound/outbound.ts";
import { readPolicy } from "../outbound/policy.ts";
import { checkWebhook, maskUrl } from "./check-webhook.ts";
import { readWebhookRules, webhooksSection } from "../../agent/project/webhook-config.ts";

const ALLOWED = /^allowed$/;
const abroad = createOutbound(readPolicy("", false));
const atHome = createOutbound(readPolicy("", true));

function verdict(url: string, section: object = {}, outbound = abroad, disabled = false): string {
  try {
    checkWebhook(readWebhookRules(webhooksSection.parse(section), disabled, {}), outbound, url);
    return "allowed";
  } catch (error) {
    const { status, message } = error as AppError;
    return `${status} ${message}`;
  }
}

test.each<[string, object, RegExp]>([
  ["https://hooks.example/run?token=secret", {}, ALLOWED],
  ["http://hooks.example/run", {}, ALLOWED],
  ["/custom/webhook?a=b", {}, ALLOWED],
  ["https://hooks.example:443/", {}, ALLOWED],
  ["https://hooks.example:8443/", {}, /port 8443 is not among the allowed ones: 443 \(webhooks.url.allowed_ports\)/],
  ["http://hooks.example:443/", {}, /port 443 .*: 80/],
  ["https://hooks.example:8443/", { url: { allowed_ports: [8443] } }, ALLOWED],
  ["https://hooks.example/", { url: { allowed_ports: [8443] } }, /port 443 .*: 8443/],
  ["http://hooks.example/", { url: { require_https: true } }, /https:\/\/ \(webhooks.url.require_https\)/],
  ["https://hooks.example/", { url: { require_https: true } }, ALLOWED],
  ["https://a.hooks.example/", { url: { allowed_domains: ["*.hooks.example"] } }, ALLOWED],
  ["https://a.b.hooks.example./", { url: { allowed_domains: ["*.HOOKS.example"] } }, ALLOWED],
  ["https://hooks.example/", { url: { allowed_domains: ["*.hooks.example"] } }, /not among the allowed hosts/],
  ["https://evilhooks.example/", { url: { allowed_domains: ["*.hooks.example"] } }, /allowed hosts/],
  ["https://hooks.example/", { url: { allowed_domains: ["hooks.example"] } }, ALLOWED],
  ["https://a.hooks.example/", { url: { allowed_domains: ["hooks.example"] } }, /allowed hosts/],
  ["https://hooks.example.evil.com/", { url: { allowed_domains: ["hooks.example"] } }, /allowed hosts/],
  ["https://hooks.example@evil.com/", { url: { allowed_domains: ["hooks.example"] } }, /user name or a password/],
  ["/internal", { url: { allowed_domains: ["hooks.example"] } }, ALLOWED],
  ["/internal", { url: { disable_loopback: true } }, /relative URLs are not allowed \(webhooks.url.disable_loopback\)/],
  ["//evil.example/", { url: { disable_loopback: false } }, /http or https URL, or a path/],
  ["/\\evil.example/", {}, /http or https URL, or a path/],
  ["https://hooks.example/long", { url: { max_url_length: 20 } }, /longer than 20 characters/],
  ["https://hooks.example/a\nb", {}, /control characters/],
  ["/a\0b", {}, /control characters/],
  ["ftp://hooks.example/", {}, /http or https URL/],
  ["javascript:alert(1)", {}, /http or https URL/],
  ["hooks.example/run", {}, /http or https URL/],
  ["https://", {}, /malformed/],
  ["http://169.254.169.254/latest/meta-data/", {}, /a metadata service/],
  ["http://127.0.0.1/", {}, /a loopback address/],
  ["http://2130706433/", {}, /a loopback address/],
  ["http://[::1]/", {}, /a loopback address/],
  ["http://10.0.0.1/", {}, /a private address/],
  ["http://localhost/", {}, /a loopback address/],
])("%s with %j", (url, section, expected) => {
  expect(verdict(url, section)).toMatch(expected === ALLOWED ? expected : new RegExp(`^422 .*${expected.source}`));
});

test("allows any loopback port in development, unless a list of ports is set", () => {
  expect(verdict("http://localhost:3000/hook", {}, atHome)).toBe("allowed");
  expect(verdict("http://127.0.0.1:3000/hook", {}, atHome)).toBe("allowed");
  expect(verdict("http://localhost:3000/hook", { url: { allowed_ports: [443] } }, atHome)).toMatch(/port 3000/);
  expect(verdict("http://hooks.example:3000/hook", {}, atHome)).toMatch(/port 3000/);
});

test.each([
  ["receiver.internal:3000", "http://receiver.internal:3000/", "allowed"],
  ["*.internal:3000", "http://receiver.internal:3000/", "allowed"],
  ["127.0.0.1:3000", "http://127.0.0.1:3000/", "allowed"],
  ["[::1]:3000", "http://[::1]:3000/", "allowed"],
  // an entry without a port, or with another one, names none
  ["127.0.0.1", "http://127.0.0.1:3000/", "HEDDLE_OUTBOUND_ALLOW=127.0.0.1:3000"],
  ["10.0.0.0/8,127.0.0.1:4000", "https://receiver.internal:3000/", "HEDDLE_OUTBOUND_ALLOW=receiver.internal:3000"],
  ["127.0.0.1,receiver.internal:3000", "http://127.0.0.1:3000/", "port 3000 is not among"],
])("HEDDLE_OUTBOUND_ALLOW=%s: a webhook to %s is %s", (allow, url, expected) => {
  const outbound = createOutbound(readPolicy(allow, false));
  expect(verdict(url, {}, outbound)).toContain(expected);
});

test("HEDDLE_OUTBOUND_ALLOW adds no port to those that a project lists", () => {
  const outbound = createOutbound(readPolicy("receiver.internal:3000", false));
  const listed = verdict("http://receiver.internal:3000/", { url: { allowed_ports: [443] } }, outbound);
  expect(listed).toMatch(/: 443 \(webhooks.url.allowed_ports\)\.$/);
});

test("rejects every webhook when webhooks are disabled", () => {
  expect(verdict("https://hooks.example/", {}, abroad, true)).toMatch(/http.disable_webhooks/);
  expect(verdict("/own", {}, abroad, true)).toMatch(/http.disable_webhooks/);
});

test("masks the query of a URL in messages and logs", () => {
  const secret = "https://hooks.example:81/run?token=secret#secret";
  expect(verdict(secret)).not.toContain("secret");
  expect(maskUrl(secret)).toBe("https://hooks.example:81/run?…");
  expect(maskUrl("/own?token=secret")).toBe("/own?…");
  expect(maskUrl("https://hooks.example/run")).toBe("https://hooks.example/run");
});
