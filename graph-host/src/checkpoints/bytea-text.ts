import { isUtf8 } from "node:buffer";

const BACKSLASH = 0x5c;

/**
 * Serializes a bytea parameter, which the driver sends as text. Bytes that are UTF-8 themselves, as JSON is, take Postgres'
 * escape format: only backslashes are escaped, and they are rare. The driver's own hexadecimal format doubles all.
 */
export function byteaText(bytes: Uint8Array): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  if (!isUtf8(buffer) || buffer.includes(0)) return `\\x${buffer.toString("hex")}`;
  return (buffer.includes(BACKSLASH) ? escapeBackslashes(buffer) : buffer).toString();
}

function escapeBackslashes(buffer: Buffer): Buffer {
  let count = 0;
  for (let at = buffer.indexOf(BACKSLASH); at >= 0; at = buffer.indexOf(BACKSLASH, at + 1)) count += 1;
  const escaped = Buffer.allocUnsafe(buffer.length + count);
  let from = 0;
  let to = 0;
  for (let at = buffer.indexOf(BACKSLASH); at >= 0; at = buffer.indexOf(BACKSLASH, at + 1)) {
    to += buffer.copy(escaped, to, from, at + 1);
    escaped[to++] = BACKSLASH;
    from = at + 1;
  }
  buffer.copy(escaped, to, from);
  return escaped;
}
