import { createHash, randomFillSync } from "node:crypto";

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

export const isUuid = (text: string): boolean => UUID.test(text);

let lastMs = 0;
let counter = 0;
/** Random bytes for several ids: a call of the generator costs more than the id. */
const random = Buffer.alloc(8 * 128);
let used = random.length;

/**
 * Returns a UUIDv7 (RFC 9562 §5.7), increasing within this process: the twelve bits after the time are a counter within
 * one millisecond, and the clock never goes back.
 */
export function uuid7(now = Date.now()): string {
  if (now > lastMs) {
    lastMs = now;
    counter = 0;
  } else if (++counter > 0xfff) {
    lastMs += 1;
    counter = 0;
  }
  if (used === random.length) {
    randomFillSync(random);
    used = 0;
  }
  const time = lastMs.toString(16).padStart(12, "0");
  const count = counter.toString(16).padStart(3, "0");
  random[used] = (random[used]! & 0x3f) | 0x80;
  const tail = random.toString("hex", used, (used += 8));
  return `${time.slice(0, 8)}-${time.slice(8)}-7${count}-${tail.slice(0, 4)}-${tail.slice(4)}`;
}

/** Returns the UUIDv5 (RFC 9562 §5.5) of a name in a namespace given as a UUID. */
export function uuid5(name: string, namespace: string): string {
  const hash = createHash("sha1")
    .update(Buffer.from(namespace.replaceAll("-", ""), "hex"))
    .update(name)
    .digest()
    .subarray(0, 16);
  hash[6] = (hash[6]! & 0x0f) | 0x50;
  hash[8] = (hash[8]! & 0x3f) | 0x80;
  const hex = hash.toString("hex");
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20)}`;
}
