import { randomBytes } from "node:crypto";

import { expect, test } from "vitest";

import type { DataKeys } from "./host-protocol.ts";
import { sealKwargs, sealState } from "./sealed-json.ts";
import { StateCipher } from "./state-cipher.ts";

const newKey = () => ({ id: randomBytes(16).toString("base64url"), key: randomBytes(32).toString("base64") });
const [old, current] = [newKey(), newKey()];
const keys: DataKeys = { keys: [old, current], current: current.id, locked: [] };
const cipher = new StateCipher(keys);

test("bytes are decrypted in their place only, and not if a bit was changed", () => {
  const sealed = cipher.seal(Buffer.from("value"), "blob a");
  expect(sealed.equals(cipher.seal(Buffer.from("value"), "blob a"))).toBe(false);
  expect(cipher.open(sealed, "blob a").toString()).toBe("value");
  expect(() => cipher.open(sealed, "blob b")).toThrow(/blob b.*altered or copied from another row/);
  for (let at = 16; at < sealed.length; at++) {
    const changed = Buffer.from(sealed);
    changed[at]! ^= 1;
    expect(() => cipher.open(changed, "blob a")).toThrow(/altered/);
  }
  expect(() => cipher.open(sealed.subarray(0, 20), "blob a")).toThrow(/altered/);
});

test("every key decrypts, and a key that is missing is named with the reason", () => {
  const earlier = new StateCipher({ ...keys, current: old.id }).seal(Buffer.from("x"), "p");
  expect(cipher.open(earlier, "p").toString()).toBe("x");
  const without = new StateCipher({ keys: [current], current: current.id, locked: [{ id: old.id, reason: "no KEY" }] });
  expect(() => without.open(earlier, "p")).toThrow(/no KEY/);
  expect(new StateCipher({ ...keys, current: null }).encrypts).toBe(false);
});

test("tokens are replaced wherever a text contains them, with their owners", () => {
  const owners: string[] = [];
  const text = `[${cipher.sealJson('{"a":"\\"b\\""}', "t1")},{"c": ${cipher.sealJson("[1]")}}] ${cipher.sealText("tail")}`;
  expect(cipher.openText(text, (owner) => owners.push(owner))).toBe('[{"a":"\\"b\\""},{"c": [1]}] tail');
  expect(owners).toEqual(["t1"]);
  expect(() => cipher.openText(text.replace(".t1.", ".t2."))).toThrow(/altered/);
});

test("text of users that looks like a token stays", () => {
  for (const id of [randomBytes(16).toString("base64url"), "x"])
    expect(cipher.openText(`"heddle.sealed.${id}.-.AAAA~"`)).toBe(`"heddle.sealed.${id}.-.AAAA~"`);
});

test("of a state and of a run's definition, what statements need stays readable", () => {
  const big = "123456789012345678901234567890";
  const state = `{"lists":{"log":{"keep":2,"items":["s",{"n":${big}}]}},"base":"b","values":{"a":${big},"e":null},"next":["n"],"interrupts":{"t":[{"id":"i","value":"s"}]},"of":"c"}`;
  const sealed = sealState(cipher, state);
  expect(sealed).not.toMatch(/"s"|123456/);
  expect(JSON.parse(sealed)).toMatchObject({
    lists: { log: { keep: 2, items: [expect.any(String), expect.any(String)] } },
    values: { e: null },
    next: ["n"],
    interrupts: { t: [{ id: "i" }] },
    of: "c",
  });
  expect(cipher.openText(sealed)).toBe(state);
  const id = "0123456789abcdef0123456789abcdef";
  const kwargs = { input: { s: 1 }, command: { resume: { [id]: "s" } }, config: { tags: [] }, context: { k: "s" } };
  const run = sealKwargs(cipher, JSON.stringify(kwargs), "t");
  expect(JSON.parse(run)).toEqual({
    input: expect.stringContaining(".t."),
    command: { resume: { [id]: expect.any(String) } },
    config: kwargs.config,
    context: { k: expect.any(String) },
  });
  expect(JSON.parse(cipher.openText(run))).toEqual(kwargs);
  const plain = sealKwargs(cipher, '{"input":null,"command":{"resume":{"other":1}}}', "t");
  expect(JSON.parse(plain)).toEqual({ input: null, command: { resume: expect.any(String) } });
});
