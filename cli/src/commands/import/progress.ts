import type { CopyReport } from "./copy.ts";

const EVERY_MS = 500;

/** Prints counts and the rate of a copy on a terminal, at most twice a second. */
export function showProgress(): { update: (report: CopyReport) => void; clear: () => void } {
  const started = performance.now();
  let printedAt = 0;
  return {
    update(report) {
      const now = performance.now();
      if (!process.stderr.isTTY || now - printedAt < EVERY_MS) return;
      printedAt = now;
      const sum = Object.values(report.kinds).reduce((total, { written, same }) => total + written + same, 0);
      const rate = Math.round(sum / ((now - started) / 1000));
      process.stderr.write(`\r\x1b[K${summarize(report)}  (${rate}/s)`);
    },
    clear() {
      if (process.stderr.isTTY) process.stderr.write("\r\x1b[K");
    },
  };
}

/** `3 assistants, 120 threads (100 unchanged)` */
export const summarize = ({ kinds }: CopyReport): string =>
  Object.entries(kinds)
    .map(([kind, { written, same }]) => `${written} ${kind}${same > 0 ? ` (${same} unchanged)` : ""}`)
    .join(", ") || "nothing";
