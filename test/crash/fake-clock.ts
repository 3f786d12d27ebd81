import { existsSync } from "node:fs";

const LIBRARIES = ["x86_64", "aarch64"].map((name) => `/usr/lib/${name}-linux-gnu/faketime/libfaketime.so.1`);

/**
 * Returns the environment for a process, and its children, with a skewed clock: by `offset` ("+0.4s", "-10m"), or by
 * the current content of the named file. Needs Debian's `faketime`. The monotonic clock is unaffected.
 */
export function fakeClock(offset: { by: string } | { file: string }): Record<string, string> {
  const library = LIBRARIES.find((path) => existsSync(path));
  if (!library) throw new Error("libfaketime is missing: apt-get install faketime");
  return {
    LD_PRELOAD: library,
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
    ...("by" in offset ? { FAKETIME: offset.by } : { FAKETIME_TIMESTAMP_FILE: offset.file, FAKETIME_NO_CACHE: "1" }),
  };
}
