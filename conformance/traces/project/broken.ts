/** Fails before there is a graph. */
export function makeGraph(config: { configurable?: { ok?: boolean; run_id?: string } }): never {
  throw new Error(`no graph today, ${config.configurable?.ok ?? "sorry"}`);
}
