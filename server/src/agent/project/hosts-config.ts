/**
 * `heddle.hosts` of langgraph.json: what graph hosts open and close (docs/configuration.md), and graphs whose runs get a
 * host of their own (docs/blocking.md).
 */
import { z } from "zod";

import { ConfigError } from "../../base/config/options.ts";

const path = z.string().regex(/.:./, 'must be "./file.ts:function" or "./file.py:function"');

export const hostsSection = z.strictObject({
  /** Functions that each host of their language calls when it starts. */
  lifespan: z.union([path.transform((one) => [one]), z.array(path)]).nullish(),
  /** Graphs each of whose runs executes alone in a host; `true`: all. */
  isolated: z
    .union([z.boolean(), z.array(z.string().min(1))], 'must be true, or a list of graphs such as ["agent"]')
    .nullish(),
});

/** The names of the graphs that are isolated. Throws with those that are not graphs of the project. */
export function isolatedGraphs(graphs: string[], isolated: boolean | string[], environment: string | undefined) {
  const unknown = Array.isArray(isolated) ? isolated.filter((id) => !graphs.includes(id)) : [];
  if (unknown.length > 0)
    throw new ConfigError(`heddle.hosts.isolated names graphs that "graphs" does not have: ${unknown.join(", ")}`);
  const all = isolated === true || /^(1|true|yes|on)$/i.test(environment ?? "");
  return new Set(all ? graphs : isolated || []);
}
