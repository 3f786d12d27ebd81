import { unprocessable } from "../../base/errors.ts";

/** Namespace and key are the primary key; a row of its index holds about 2,700 bytes. */
const MAX_BYTES = 2000;

export function checkKey(namespace: string[], key: string): void {
  const bytes = namespace.reduce((sum, label) => sum + Buffer.byteLength(label) + 4, Buffer.byteLength(key));
  if (bytes > MAX_BYTES) throw unprocessable(`Namespace and key together are longer than ${MAX_BYTES} bytes.`);
}
