/** Throws before a graph is created. */
export function makeGraph(config: { configurable?: { ok?: boolean; run_id?: string } }): never {
  throw new Error(`no graph today, ${config.configurable?.ok ?? "sorry"}`);
}
