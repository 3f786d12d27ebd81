import { inspect } from "node:util";

import { expect, test } from "vitest";

import { generateKey, Keyring } from "./keyring.ts";
import { openSecret, rewrapKey, sealSecret } from "./seal.ts";

const line = generateKey();
const ring = new Keyring(`${line}, ${generateKey()}`, "a test");
const [key, other] = ring.ids.map((id) => ring.find(id)!) as [typeof ring.newest, typeof ring.newest];
const ref = { purpose: "webhook", id: "w1" };
const value = "s3cret ✓";

test("opens what was sealed, each time from another ciphertext", () => {
  const [first, second] = [sealSecret(key, ref, value), sealSecret(key, ref, value)];
  expect(openSecret(key, ref, first)).toBe(value);
  expect(openSecret(key, ref, second)).toBe(value);
  expect(first.ciphertext.equals(second.ciphertext)).toBe(false);
  expect(openSecret(key, ref, sealSecret(key, ref, ""))).toBe("");
});

test("rejects any changed bit, without the value in the message", () => {
  const sealed = sealSecret(key, ref, value);
  for (const part of ["ciphertext", "wrapped_key"] as const) {
    for (let bit = 0; bit < sealed[part].length * 8; bit++) {
      const bytes = Buffer.from(sealed[part]);
      bytes[bit >> 3]! ^= 1 << (bit & 7);
      expect(() => openSecret(key, ref, { ...sealed, [part]: bytes })).toThrow(
        /^the stored secret webhook w1 cannot be decrypted: it was altered or copied from another row$/,
      );
    }
    for (const length of [0, 1, 28, sealed[part].length - 1]) {
      expect(() => openSecret(key, ref, { ...sealed, [part]: sealed[part].subarray(0, length) })).toThrow(/altered/);
    }
  }
});

test("a ciphertext that was moved does not open elsewhere", () => {
  const sealed = sealSecret(key, ref, value);
  for (const elsewhere of [
    { purpose: "webhook", id: "w2" },
    { purpose: "destination", id: "w1" },
    { purpose: "webhook w1", id: "" },
  ]) {
    expect(() => openSecret(key, elsewhere, sealed)).toThrow(/copied from another row/);
    expect(() => rewrapKey(key, other, elsewhere, sealed.wrapped_key)).toThrow(/copied from another row/);
  }
  // the data key of one secret with the value of another
  const foreign = sealSecret(key, { ...ref, id: "w2" }, "other");
  expect(() => openSecret(key, ref, { ...sealed, ciphertext: foreign.ciphertext })).toThrow(/altered/);
  expect(() => openSecret(other, ref, sealed)).toThrow(/altered/);
});

test("rewraps a secret for another key without changing the ciphertext", () => {
  const sealed = sealSecret(key, ref, value);
  const wrapped_key = rewrapKey(key, other, ref, sealed.wrapped_key);
  expect(openSecret(other, ref, { ...sealed, wrapped_key })).toBe(value);
});

test("a key is neither printed nor serialized", () => {
  const material = line.split(":")[1]!;
  const hex = Buffer.from(material, "base64").toString("hex");
  for (const text of [inspect(ring, { depth: 9, showHidden: true }), JSON.stringify(ring), JSON.stringify(key)]) {
    expect(text).not.toContain(material);
    expect(text).not.toContain(hex);
  }
});

test.each([
  ["", /contains no key/],
  ["# only a remark", /contains no key/],
  ["QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWY=", /entry 1 must have the form id:base64/],
  ["a:c2hvcnQ=", /entry 1 \(id a\) is not 32 bytes/],
  ["a:not base64 at all !!", /entry 1 \(id a\) is not 32 bytes/],
  [`${line},${line}`, /two keys with the id/],
])("rejects an invalid keyring without quoting it (%#)", (text, why) => {
  let message = "";
  try {
    void new Keyring(text, "HEDDLE_SECRETS_KEYS");
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toMatch(why);
  expect(message).not.toContain(text.slice(-12) || "\0");
});
