import { setTimeout as sleep } from "node:timers/promises";

import type { ControlApi, LogEntryOnWire, RevisionOnWire } from "./control-api.ts";

const POLL_MS = 400;
const OVER = /^(DEPLOYED|SKIPPED|INTERRUPTED|.*_FAILED)$/;

interface Page {
  logs: LogEntryOnWire[];
  next_offset: string | null;
}

/** Reads the lines of a log from a position, in order, and the position after them. */
export async function readLogs(
  api: ControlApi,
  path: string,
  after: string | null,
  more: object = {},
): Promise<{ lines: LogEntryOnWire[]; next: string | null }> {
  const lines: LogEntryOnWire[] = [];
  let next = after;
  for (;;) {
    const body = { order: "asc", limit: 500, ...more, ...(next !== null && { offset: next }) };
    const page = await api.read<Page>("POST", path, body);
    lines.push(...page.logs);
    next = page.next_offset ?? next;
    if (page.logs.length < 500) return { lines, next };
  }
}

/** Follows a revision until its final state: prints each state and each line of its build once. */
export async function followRevision(
  api: ControlApi,
  deployment: string,
  revision: string,
  print: (line: string) => void,
): Promise<RevisionOnWire> {
  const path = `/v1/projects/${deployment}/revisions/${revision}`;
  let [status, position] = ["", null as string | null];
  for (;;) {
    const current = await api.read<RevisionOnWire>("GET", `/v2/deployments/${deployment}/revisions/${revision}`);
    if (current.status !== status) print(current.status);
    status = current.status;
    const { lines, next } = await readLogs(api, `${path}/build_logs`, position);
    position = next;
    for (const { message } of lines) print(`  ${message}`);
    if (
      !OVER.test(status) ||
      (status === "INTERRUPTED" && /goes on|another one continues/.test(current.status_message ?? ""))
    ) {
      await sleep(POLL_MS);
      continue;
    }
    if (status === "DEPLOY_FAILED") {
      const page = await api.read<Page>("POST", `${path}/deploy_logs`, { order: "desc", limit: 40 });
      for (const { message } of page.logs.reverse()) print(`  ${message}`);
    }
    return current;
  }
}
