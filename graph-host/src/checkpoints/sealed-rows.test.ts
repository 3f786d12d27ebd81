import { expect, test } from "vitest";

import { StateCipher } from "../../../host-kit/src/state-cipher.ts";
import { openBlobValue, openWriteValue, sealBlob, sealWrite } from "./sealed-rows.ts";

const KEY = { id: "A".repeat(22), key: Buffer.alloc(32, 7).toString("base64") };
const cipher = new StateCipher({ keys: [KEY], current: KEY.id, locked: [] });

test("the error of a row that another server encrypted says so", () => {
  const row = { type: "msgpack+aes", text: null, bytes: Buffer.alloc(40) };
  for (const keys of [cipher, undefined])
    expect(() => openBlobValue(keys, row, "messages", "1")).toThrow(
      /encrypted by another server \(type msgpack\+aes\).*reencrypt/,
    );
});

test("a row is read only in its place", () => {
  const blob = sealBlob(cipher, { channel: "messages", version: "1", type: "msgpack", blob: Buffer.from("value") });
  const stored = { type: blob.type, text: null, bytes: blob.blob };
  expect(openBlobValue(cipher, stored, "messages", "1")).toEqual({
    type: "msgpack",
    text: null,
    bytes: Buffer.from("value"),
  });
  expect(() => openBlobValue(cipher, stored, "messages", "2")).toThrow(/altered or copied/);
  const place = { taskId: "t", idx: -3, channel: "__interrupt__" };
  const write = sealWrite(cipher, { ...place, type: "json", blob: Buffer.from('[{"id":"abc","value":1}]') });
  expect(write.type).toBe("json+sealed:abc");
  const read = { type: write.type, text: null, bytes: write.blob };
  expect(openWriteValue(cipher, read, place).text).toBe('[{"id":"abc","value":1}]');
  expect(() => openWriteValue(cipher, read, { ...place, idx: -4 })).toThrow(/altered or copied/);
});
