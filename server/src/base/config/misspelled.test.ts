import { expect, test } from "vitest";

import { findMisspelled } from "./misspelled.ts";

const KNOWN = new Set([
  "HEDDLE_WEBHOOK_SECRETS",
  "HEDDLE_SECRETS_KEY_FILE",
  "HEDDLE_SECRETS_KEYS",
  "HEDDLE_AUTH",
  "HEDDLE_HOST",
  "HEDDLE_JOBS",
  "HEDDLE_CONTROL_PORT",
  "PORT",
]);

test.each([
  ["HEDDLE_WEBHOK_SECRETS", "HEDDLE_WEBHOOK_SECRETS"],
  ["HEDDLE_WEBHOOKS_SECRET", "HEDDLE_WEBHOOK_SECRETS"],
  ["HEDLE_WEBHOOK_SECRETS", "HEDDLE_WEBHOOK_SECRETS"],
  ["HEDDEL_AUTH", "HEDDLE_AUTH"],
  ["heddle_auth", "HEDDLE_AUTH"],
  ["HEDDLE-AUTH", "HEDDLE_AUTH"],
  ["HEDDLE_KEY_SECRETS_FILE", "HEDDLE_SECRETS_KEY_FILE"],
  ["HEDDLE_SECRET_KEYS", "HEDDLE_SECRETS_KEYS"],
  ["HEDDLE_JOB", "HEDDLE_JOBS"],
  ["HEDDLE_CONTORL_PORT", "HEDDLE_CONTROL_PORT"],
])("recognizes %s", (name, meant) => {
  expect(findMisspelled([name], KNOWN)).toEqual({ misspelled: [{ name, meant }], unknown: [] });
});

test("leaves names alone that code of a project or a cluster uses", () => {
  const names = ["HEDDLE_HOME", "HEDDLE_TEAM_SECRETS_URL", "HOST", "HOME", "HOSTNAME", "PROT", "HEDDLE_AUTH", "PORT"];
  const links = [
    "HEDDLE_CONTROL_SERVICE_HOST",
    "HEDDLE_CONTROL_SERVICE_PORT_HTTP",
    "HEDDLE_CONTROL_PORT_2026_TCP_ADDR",
  ];
  const found = findMisspelled([...names, ...links], KNOWN);
  expect(found).toEqual({ misspelled: [], unknown: ["HEDDLE_HOME", "HEDDLE_TEAM_SECRETS_URL"] });
});
