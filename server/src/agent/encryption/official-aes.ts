/**
 * Decrypts what LangGraph's own serializer encrypted with `LANGGRAPH_AES_KEY`: AES in EAX mode (Bellare, Rogaway, Wagner,
 * 2004) as nonce (16 bytes), tag (16 bytes) and ciphertext, without a header.
 */
import { createCipheriv, createDecipheriv, timingSafeEqual } from "node:crypto";

const BLOCK = 16;

/**
 * @param secrets AES keys to try, each of 16, 24 or 32 bytes
 * @returns undefined when none of the keys fits
 */
export function openEax(secrets: readonly Buffer[], bytes: Buffer): Buffer | undefined {
  if (bytes.length < 2 * BLOCK) return undefined;
  const [nonce, tag, data] = [bytes.subarray(0, BLOCK), bytes.subarray(BLOCK, 2 * BLOCK), bytes.subarray(2 * BLOCK)];
  for (const secret of secrets) {
    const start = omac(secret, 0, nonce);
    const expected = xor(xor(start, omac(secret, 1, Buffer.alloc(0))), omac(secret, 2, data));
    if (!timingSafeEqual(expected, tag)) continue;
    const decipher = createDecipheriv(`aes-${secret.length * 8}-ctr`, secret, start);
    return Buffer.concat([decipher.update(data), decipher.final()]);
  }
  return undefined;
}

/** OMAC1 (CMAC) of a block with the number `tweak`, followed by the data. */
function omac(secret: Buffer, tweak: number, data: Buffer): Buffer {
  const first = Buffer.alloc(BLOCK);
  first[BLOCK - 1] = tweak;
  const text = Buffer.concat([first, data]);
  const double = (block: Buffer): Buffer => {
    const value = BigInt(`0x${block.toString("hex")}`) << 1n;
    const reduced = value >> 128n ? (value ^ 0x87n) & ((1n << 128n) - 1n) : value;
    return Buffer.from(reduced.toString(16).padStart(2 * BLOCK, "0"), "hex");
  };
  const mask = double(chain(secret, Buffer.alloc(BLOCK)));
  const rest = text.length % BLOCK;
  const padded = rest === 0 ? text : Buffer.concat([text, Buffer.from([0x80]), Buffer.alloc(BLOCK - rest - 1)]);
  const last = xor(padded.subarray(-BLOCK), rest === 0 ? mask : double(mask));
  return chain(secret, Buffer.concat([padded.subarray(0, -BLOCK), last]));
}

/** Last block of a CBC encryption that begins with zeros. */
function chain(secret: Buffer, blocks: Buffer): Buffer {
  const cipher = createCipheriv(`aes-${secret.length * 8}-cbc`, secret, Buffer.alloc(BLOCK)).setAutoPadding(false);
  return Buffer.concat([cipher.update(blocks), cipher.final()]).subarray(-BLOCK);
}

const xor = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((byte, i) => byte ^ b[i]!));
