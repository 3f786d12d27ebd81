import { importPrices as importList, type ImportedPrices } from "../trace/prices/import-prices.ts";
import { readPriceList } from "../trace/prices/read-price-list.ts";
import { recordCommand } from "./record-command.ts";
import { type DataLocation, withDatabase } from "./with-database.ts";

/**
 * Imports a price list in LiteLLM's format; a dry run returns its changes without making them. @throws TypeError for a
 * text that is no price list
 */
export function importPrices(
  location: DataLocation,
  text: string,
  from: Date,
  { dryRun = false } = {},
): Promise<ImportedPrices> {
  const list = readPriceList(text);
  return withDatabase(location, async ({ sql, log }) => {
    const imported = await importList(sql, list, from, { dryRun });
    if (dryRun) return imported;
    const target = { prices: String(list.length), changed: String(imported.changed) };
    await recordCommand(sql, log, "heddle prices import", target, { location });
    return imported;
  });
}
