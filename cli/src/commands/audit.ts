import { once } from "node:events";
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";

export const summary = "Export and verify the audit log";

export const command = declareActions({
  noun: "audit",
  actions: {
    export: { summary: "Print the audit log of all workspaces, and attempts without a workspace, oldest first." },
    verify: {
      summary:
        "Check every line's seal and number, and list lines that were altered, inserted or removed. Exits with 1 if there are any, or if a key to check lines with is missing.",
    },
  },
  flags: {
    ...DATA_FLAGS,
    from: { type: "text", placeholder: "TIME", only: ["export"], description: "Start of the time range, ISO 8601." },
    to: { type: "text", placeholder: "TIME", only: ["export"], description: "End of the time range, ISO 8601." },
    format: { type: "text", placeholder: "FORMAT", default: "ndjson", only: ["export"], description: "ndjson or csv." },
    output: {
      type: "text",
      placeholder: "FILE",
      only: ["export"],
      description: "Write to this new file instead of stdout.",
    },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { action, options } = readAction(command, args);
  const location = () => readDataLocation(options);
  const admin = () => import("../../../server/src/admin/audit.ts");
  if (action === "export") {
    const { format } = options;
    if (format !== "ndjson" && format !== "csv")
      throw new UsageError(`--format must be ndjson or csv, not "${format}".`);
    const [from, to] = [readTime("--from", options.from), readTime("--to", options.to)];
    const where = location();
    const file = options.output === undefined ? null : createWriteStream(options.output, { flags: "wx", mode: 0o600 });
    if (file) await once(file, "open");
    const out = file ?? process.stdout;
    await (
      await admin()
    ).exportAudit(where, { format, from, to }, async (piece) => {
      if (!out.write(piece)) await once(out, "drain");
    });
    if (file) await finished(file.end());
  } else {
    const found = await (await admin()).verifyAudit(location(), process.env);
    const print = (line: string) => process.stdout.write(`${line}\n`);
    print(
      `${found.lines} ${found.lines === 1 ? "line" : "lines"}, ${found.sound} sound, ${found.unsealed} without a seal`,
    );
    for (const [key, count] of Object.entries(found.unknownKeys))
      print(`${count} sealed with ${key}, which is not available`);
    for (const id of found.altered) print(`ALTERED  ${id}`);
    for (const { writer, after, missing } of found.gaps)
      print(`MISSING  ${missing} after line ${after} of writer ${writer}`);
    const unchecked = Object.keys(found.unknownKeys).length;
    if (found.altered.length + found.gaps.length + unchecked > 0) process.exitCode = 1;
  }
}

function readTime(flag: string, value: string | undefined): Date | undefined {
  if (value === undefined) return undefined;
  const time = new Date(value);
  if (Number.isNaN(time.getTime())) throw new UsageError(`${flag} must be an ISO 8601 time, not "${value}".`);
  return time;
}
