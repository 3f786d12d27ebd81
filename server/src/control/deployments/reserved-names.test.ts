import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { agentOptions } from "../../agent/settings.ts";
import { checkSecrets } from "./validate.ts";
import { OWN_SETTINGS, reservedReason } from "./reserved-names.ts";

const declared = new Set(Object.values(agentOptions).flatMap(({ env }) => env));

test("a deployment may set existing settings of the agent server, and each is documented", () => {
  expect(OWN_SETTINGS.filter((name) => !declared.has(name))).toEqual([]);
  const page = readFileSync(new URL("../../../../docs/deployments.md", import.meta.url), "utf8");
  expect(OWN_SETTINGS.filter((name) => !page.includes(name))).toEqual([]);
});

test("every other setting of Heddle is rejected by name, also one that does not exist", () => {
  const others = [...declared].filter((name) => name.startsWith("HEDDLE_") && !OWN_SETTINGS.includes(name as never));
  expect(others.length).toBeGreaterThan(30);
  const elsewhere = ["HEDDLE_AUTH", "HEDDLE_AUTH_URL", "HEDDLE_SECRETS_KEYS", "HEDDLE_DATA_DIR", "HEDDLE_HOST"];
  for (const name of [...others, ...elsewhere, "HEDDLE_WEBHOK_SECRETS", "HEDDLE_"]) {
    expect(reservedReason(name, "self_hosted")).toContain(`${name} is reserved: it is not among the settings`);
  }
  expect(reservedReason("DATABASE_URI", "self_hosted")).toBe("DATABASE_URI is reserved: the platform sets it");
  expect(reservedReason("OPENAI_API_KEY", "self_hosted")).toBeNull();
});

test("a setting that the platform reads itself cannot come from a Secret of the cluster", () => {
  expect(reservedReason("HEDDLE_OUTBOUND_ALLOW", "self_hosted", { isReference: true })).toContain("as a secret");
  expect(reservedReason("HEDDLE_WEBHOOK_SECRETS", "self_hosted", { isReference: true })).toBeNull();
});

test("outbound allowances are accepted as far as the operator's reach", () => {
  const check = (value: string, outboundAllow = "10.0.0.0/8") => {
    const secrets = [{ name: "HEDDLE_OUTBOUND_ALLOW", value }];
    return () => checkSecrets(secrets, { installation: "self_hosted", outboundAllow });
  };
  expect(check("10.1.2.3")).not.toThrow();
  // the mask keeps the stored value
  expect(check("********", "")).not.toThrow();
  expect(check("10.1.2.3, 192.168.0.0/16")).toThrow("does not allow 192.168.0.0/16.");
  expect(check("169.254.169.254")).toThrow("does not allow 169.254.169.254");
  expect(check("not/a/network")).toThrow("is not a network");
});
