import { existsSync } from "node:fs";

const LIBRARIES = ["x86_64", "aarch64"].map((name) => `/usr/lib/${name}-linux-gnu/faketime/libfaketime.so.1`);

/**
 * Environment of a process, and of those that it starts, whose clock is off: by `offset` ("+0.4s", "-10m"), or by
 * what the file of that name says at the moment. Needs Debian's `faketime`. The monotonic clock is left alone.
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
