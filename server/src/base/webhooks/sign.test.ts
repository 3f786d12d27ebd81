import { randomBytes } from "node:crypto";

import { Webhook } from "standardwebhooks";
import { expect, test } from "vitest";

import { readOptions } from "../config/options.ts";
import { pauseAfter } from "./backoff.ts";
import { webhookOptions } from "./settings.ts";
import { readSigningKeys, signatureHeaders } from "./sign.ts";

const secret = () => `whsec_${randomBytes(32).toString("base64")}`;

test("the standard's own library accepts signatures with the old and the new secret", () => {
  const [older, newer] = [secret(), secret()];
  const body = JSON.stringify({ text: "Grüße" });
  const headers = signatureHeaders(readSigningKeys(`${newer}, ${older}`), "an-id", Math.floor(Date.now() / 1000), body);
  expect(new Webhook(older).verify(body, headers)).toEqual({ text: "Grüße" });
  expect(new Webhook(newer).verify(body, headers)).toEqual({ text: "Grüße" });
  expect(() => new Webhook(secret()).verify(body, headers)).toThrow("No matching signature");
  expect(() => new Webhook(newer).verify(`${body} `, headers)).toThrow("No matching signature");
});

test("sends id and timestamp without a signature where there is no secret", () => {
  expect(Object.keys(signatureHeaders([], "an-id", 1, "{}"))).toEqual(["webhook-id", "webhook-timestamp"]);
});

test.each(["whsec_", "whsec_c2hvcnQ=", "not base64!", `whsec_${randomBytes(65).toString("base64")}`])(
  "rejects %s as a secret without quoting it",
  (text) => {
    const read = () => readOptions(webhookOptions, { HEDDLE_WEBHOOK_SECRETS: `${secret()},${text}` });
    expect(read).toThrow(/HEDDLE_WEBHOOK_SECRETS must contain secrets of 24 to 64 bytes.*entry 2 is not one/);
    expect(read).not.toThrow(text.slice(6) || "whsec_c");
  },
);

test("retry delays triple up to four hours, and jitter removes up to a quarter", () => {
  expect([1, 2, 3, 4].map((n) => pauseAfter(n, 5000, 0))).toEqual([5000, 15_000, 45_000, 135_000]);
  expect(pauseAfter(50, 5000, 0)).toBe(4 * 3_600_000);
  expect(pauseAfter(1, 5000, 0.9999)).toBeGreaterThan(3749);
  expect(pauseAfter(1, 5000, 0.9999)).toBeLessThan(3751);
});
