import { expect, test } from "vitest";

import { createOutbound } from "../../base/outbound/outbound.ts";
import { readPolicy } from "../../base/outbound/policy.ts";
import { readWebhookRules, webhooksSection } from "../project/webhook-config.ts";
import { KnownWebhooks } from "./known-webhooks.ts";

const { check, policy } = createOutbound(readPolicy("", false));
const readRules = (section: object) => readWebhookRules(webhooksSection.parse(section), false, {});

function known(section: object = {}) {
  const judged: string[] = [];
  const state = { rules: readRules(section), judged };
  const outbound = { policy, check: (url: string | URL) => (judged.push(String(url)), check(url)) };
  return { state, webhooks: new KnownWebhooks(outbound, () => state.rules) };
}

test("checks an allowed webhook once, and a rejected one each time", () => {
  const { state, webhooks } = known();
  for (let n = 0; n < 3; n++) webhooks.check("https://hooks.example/a");
  expect(state.judged).toEqual(["https://hooks.example/a"]);
  for (let n = 0; n < 3; n++) expect(() => webhooks.check("http://169.254.169.254/")).toThrow(/Invalid webhook/);
  expect(state.judged.length).toBe(4);
});

test("checks an allowed webhook again when the rules change", () => {
  const { state, webhooks } = known();
  webhooks.check("http://hooks.example/a");
  state.rules = readRules({ url: { require_https: true } });
  expect(() => webhooks.check("http://hooks.example/a")).toThrow(/require_https/);
});

test("limits the number of remembered webhooks, and remembers no long ones", () => {
  const { state, webhooks } = known();
  for (let n = 0; n <= 1000; n++) webhooks.check(`https://hooks.example/${n}`);
  webhooks.check("https://hooks.example/0");
  expect(state.judged.length).toBe(1002);
  const long = `https://hooks.example/${"a".repeat(3000)}`;
  for (let n = 0; n < 2; n++) webhooks.check(long);
  expect(state.judged.length).toBe(1004);
});
