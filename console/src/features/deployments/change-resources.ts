export type ResourceName = "min_scale" | "max_scale" | "cpu" | "cpu_limit" | "memory_mb" | "memory_limit_mb";

/**
 * Applies changes to a deployment's resources; an empty text removes a value. `spec` is what the API returned, with
 * defaults filled in. A request replaces the whole spec, so values equal to a default are left out: sent back, a default
 * would become a fixed value, which no longer follows the others and is enforced on processes.
 */
export function changeResources(
  spec: Readonly<Record<string, unknown>>,
  changes: Partial<Record<ResourceName, number | string>>,
): Record<string, unknown> {
  const { cpu = 1, memory_mb: memory = 2048, min_scale: min = 1 } = spec;
  const defaults: Record<ResourceName, unknown> = {
    min_scale: 1,
    max_scale: Math.max(1, Number(min)),
    cpu: 1,
    cpu_limit: 2 * Number(cpu),
    memory_mb: 2048,
    memory_limit_mb: 2 * Number(memory),
  };
  const own = Object.entries(spec).filter(
    ([name, value]) => value !== defaults[name as ResourceName] && changes[name as ResourceName] !== "",
  );
  const set = Object.entries(changes).filter(([, value]) => value !== "");
  return Object.fromEntries([...own, ...set.map(([name, value]) => [name, Number(value)])]);
}
