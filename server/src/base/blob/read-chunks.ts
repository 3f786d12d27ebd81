import { open } from "node:fs/promises";

/**
 * Reads a file in chunks, reusing one buffer: each chunk is valid until the next is requested. A stream would allocate
 * a buffer per chunk, garbage outside V8's heap that is collected late.
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
