import { readFile } from "node:fs/promises";

import { DATA_FLAGS, readDataLocation } from "../core/data-location.ts";
import { declareActions, describeActions, readAction } from "../core/actions.ts";
import { UsageError } from "../core/flags.ts";

interface PriceChange {
  before: { prompt_cost: string; completion_cost: string } | undefined;
  after: { name: string; provider: string | null; prompt_cost: string; completion_cost: string };
}

export const summary = "Import model prices";

export const command = declareActions({
  noun: "prices",
  about: `Adds a list of model prices, in LiteLLM's JSON format, to the installation. They apply to
all workspaces, after a workspace's own prices and before the built-in ones. A changed
price applies to runs that start from --from on; earlier runs keep theirs. LiteLLM
publishes such a list: model_prices_and_context_window.json in the repository
BerriAI/litellm.`,
  actions: {
    import: {
      summary: "Add the prices of a file, or change those that have the same names.",
      argument: { placeholder: "FILE", what: "file with the prices", flag: "file" },
    },
  },
  flags: {
    ...DATA_FLAGS,
    file: { type: "text", placeholder: "FILE", description: "The same as FILE." },
    from: {
      type: "text",
      placeholder: "TIME",
      description: "Time from which changed prices apply, ISO 8601. Default: now.",
    },
    "dry-run": { type: "switch", default: false, description: "Print the changes without making them." },
  },
});

export const help = (): string => describeActions(command);

export async function run(args: string[]): Promise<void> {
  const { argument: file, options } = readAction(command, args);
  const from = options.from === undefined ? new Date() : new Date(options.from);
  if (Number.isNaN(from.getTime())) throw new UsageError(`--from must be an ISO 8601 time, not "${options.from}".`);
  const text = await readFile(file, "utf8").catch((error: Error) => {
    throw new UsageError(`Cannot read the file ${file}: ${error.message}`);
  });
  const { importPrices } = await import("../../../server/src/admin/prices.ts");
  try {
    const dryRun = options["dry-run"];
    const imported = await importPrices(readDataLocation(options), text, from, { dryRun });
    if (dryRun) process.stdout.write(describeChanges(imported.changes));
    const { added, changed, unchanged } = imported;
    const verb = dryRun ? "would be added" : "added";
    process.stdout.write(`${added} prices ${verb}, ${changed} changed, ${unchanged} unchanged.\n`);
  } catch (error) {
    if (!(error instanceof TypeError || error instanceof SyntaxError || error instanceof RangeError)) throw error;
    throw new UsageError(`${file} cannot be imported: ${error.message}.`);
  }
}

/** Lists each new and changed price in dollars per million tokens. */
function describeChanges(changes: PriceChange[]): string {
  const million = (cost: string) => Number(`${cost}e6`).toString();
  const costs = (price: { prompt_cost: string; completion_cost: string }) =>
    `${million(price.prompt_cost)} / ${million(price.completion_cost)}`;
  return changes
    .map(({ before, after }) => {
      const was = before ? `, was ${costs(before)}` : "";
      return `${before ? "changed" : "new"}  ${after.name} (${after.provider ?? "any provider"}): ${costs(after)}${was}\n`;
    })
    .join("");
}
