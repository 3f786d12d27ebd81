import { collectGarbage } from "../../../../host-kit/src/idle-memory.ts";

/**
 * Bytes of large bodies after which garbage is collected. V8 would otherwise let the texts, values and buffers of
 * several bodies accumulate, which takes more memory than the body being processed.
 */
export const COLLECTED_BYTES = 16 * 1024 * 1024;

/** Returns a function that counts bytes and collects garbage after every `bytes` of them. */
export function collectEvery(bytes: number): (more: number) => void {
  let stored = 0;
  return (more) => {
    stored += more;
    if (stored < bytes) return;
    stored = 0;
    collectGarbage();
  };
}
