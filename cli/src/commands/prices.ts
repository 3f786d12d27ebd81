import { readFile } from "node:fs/promises";

import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { describeFlags, readFlags, UsageError, type FlagSpec } from "../core/flags.ts";

const flags = {
  ...DATA_FLAGS,
  file: { type: "text", placeholder: "FILE", description: "Price list in LiteLLM's JSON format." },
  from: {
    type: "text",
    placeholder: "TIME",
    description: "Time from which changed prices apply, ISO 8601. Default: now.",
  },
} as const satisfies Record<string, FlagSpec>;

export const summary = "Import model prices";

export function help(): string {
  return `Usage: heddle prices import --file FILE [options]

Adds a list of model prices to the installation. They apply to all workspaces, after a
workspace's own prices and before the built-in ones. A changed price applies to runs that
start from --from on; earlier runs keep theirs. LiteLLM publishes such a list:
model_prices_and_context_window.json in the repository BerriAI/litellm.

Options:
${describeFlags(flags)}
`;
}

export async function run(args: string[]): Promise<void> {
  const [action = "", ...rest] = args;
  const options = readFlags(flags, rest, process.env);
  if (action !== "import") throw new UsageError(`heddle prices needs an action: import, not "${action}".`);
  if (options.file === undefined) throw new UsageError("heddle prices import needs --file FILE.");
  const from = options.from === undefined ? new Date() : new Date(options.from);
  if (Number.isNaN(from.getTime())) throw new UsageError(`--from must be an ISO 8601 time, not "${options.from}".`);
  const text = await readFile(options.file, "utf8").catch((error: Error) => {
    throw new UsageError(`Cannot read the file ${options.file}: ${error.message}`);
  });
  const { importPrices } = await import("../../../server/src/admin/prices.ts");
  try {
    const { added, changed, unchanged } = await importPrices(readDataLocation(options), text, from);
    process.stdout.write(`${added} prices added, ${changed} changed, ${unchanged} unchanged.\n`);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError)) throw error;
    throw new UsageError(`${options.file} cannot be imported: ${error.message}.`);
  }
}
