import { open } from "node:fs/promises";

/**
 * A file's content, chunk by chunk in one and the same buffer: each is valid until the next is asked for. A stream
 * would make a buffer a chunk, which is garbage outside of V8's heap and is collected late.
 */
export async function* readChunks(path: string, size = 1024 * 1024): AsyncGenerator<Uint8Array, undefined> {
  const file = await open(path, "r");
  try {
    const buffer = Buffer.allocUnsafeSlow(size);
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, size, null);
      if (bytesRead === 0) return;
      yield buffer.subarray(0, bytesRead);
    }
  } finally {
    await file.close();
  }
}
