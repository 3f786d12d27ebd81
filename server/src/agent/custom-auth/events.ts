/** Events that handlers can decide. */
export const ACTIONS = {
  threads: ["create", "read", "update", "delete", "search", "create_run"],
  assistants: ["create", "read", "update", "delete", "search"],
  crons: ["create", "read", "update", "delete", "search"],
  store: ["put", "get", "search", "list_namespaces", "delete"],
} as const;

type Actions = typeof ACTIONS;
export type Event = { [R in keyof Actions]: `${R}:${Actions[R][number]}` }[keyof Actions];

/**
 * Lists the events without a handler, which every authenticated caller may therefore do: `crons` where no event of the
 * resource has one, else `crons:delete`.
 */
export function undecidedEvents(callbacks: Record<string, unknown>): string[] {
  const isDecided = (...names: string[]) => names.some((name) => callbacks[name] !== undefined);
  return Object.entries(ACTIONS).flatMap(([resource, actions]) => {
    const open = actions.filter((action) => !isDecided(`${resource}:${action}`, resource, `*:${action}`, "*"));
    return open.length === actions.length ? [resource] : open.map((action) => `${resource}:${action}`);
  });
}

/** Whether handlers may be registered under this name: an event, a resource, an action of all resources, or `*`. */
export function isEventName(name: string): boolean {
  const [resource, action] = name.split(":") as [string, string?];
  const all: Record<string, readonly string[]> = ACTIONS;
  if (resource === "*") return action === undefined || Object.values(all).some((actions) => actions.includes(action));
  const actions = Object.hasOwn(all, resource) ? all[resource] : undefined;
  return actions !== undefined && (action === undefined || actions.includes(action));
}
