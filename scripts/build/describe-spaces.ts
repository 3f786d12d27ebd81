import { agentRoutes } from "../../server/src/agent/index.ts";
import { langgraphJson } from "../../server/src/agent/project/schema.ts";
import { agentOptions } from "../../server/src/agent/settings.ts";
import { readOptions } from "../../server/src/base/config/options.ts";
import type { Route } from "../../server/src/base/http/route.ts";
import { controlRoutes } from "../../server/src/control/index.ts";
import { controlOptions } from "../../server/src/control/settings.ts";
import { traceRoutes } from "../../server/src/trace/index.ts";
import { traceOptions } from "../../server/src/trace/settings.ts";

/**
 * A dependency that a route's declaration passes on to its handler: every property and result is another one. Only
 * handlers use dependencies, and none of them runs here.
 */
const unused: never = new Proxy(() => {}, {
  get: (_, name) => (name === Symbol.toPrimitive ? () => 0 : unused),
  apply: () => unused,
  construct: () => unused as object,
}) as never;

/** Returns the OpenAPI documents of the three spaces with default settings, as their servers answer `/openapi.json`. */
export async function describeSpaces(): Promise<Record<"agent" | "trace" | "control", object>> {
  const deps = <T extends object>(known: object): T =>
    new Proxy(known, { get: (target, name) => Reflect.get(target, name) ?? unused }) as T;
  const config = langgraphJson.parse({ graphs: {} });
  return {
    agent: await documentOf(
      agentRoutes(deps({ settings: readOptions(agentOptions, {}), project: deps({ config }), customApp: null })),
    ),
    trace: await documentOf(
      traceRoutes(deps({ settings: readOptions(traceOptions, {}), rateLimits: deps({ mode: "off" }) }), unused),
    ),
    control: await documentOf(controlRoutes(deps({ settings: readOptions(controlOptions, {}) }))),
  };
}

async function documentOf(routes: Route[]): Promise<object> {
  const { handler } = routes.find(({ path }) => path === "/openapi.json")!;
  const response = await handler(unused);
  return JSON.parse(await (response as Response).text()) as object;
}
