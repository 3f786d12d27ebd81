/** Reports and requests for work of a listener, with its own credential: about its pods, and about those of others. */
import fc from "fast-check";

import { valuesOf } from "../from-schema.ts";
import type { HttpInput } from "../http-input.ts";
import { changeText, mutate, mutations, textChanges, writeJson } from "../json-values.ts";
import { runHttp, type Surface } from "../surface.ts";
import type { World } from "../world.ts";

const REPORTS = "/v2/listeners/{listener_id}/reports";
const WORK = "/v2/listeners/{listener_id}/work";

export const reports: Surface<HttpInput> = {
  name: "reports",
  servers: ["control"],
  weight: 2,
  inputs(world, server) {
    const { id } = world.listener;
    const ids = [...world.allIds(server), ...Object.values(world.listener.own)];
    const { paths, components } = world.documents[server]!;
    const schema = paths[REPORTS]!["post"]!.requestBody!.content["application/json"]!.schema!;
    const context = { components: components.schemas, ids: world.ids[server] };
    const value = fc.oneof(
      { weight: 3, arbitrary: plausible(world) },
      { weight: 1, arbitrary: valuesOf(schema, context) },
    );
    const sent = fc
      .tuple(value, fc.oneof(fc.constant([]), mutations(4)), textChanges())
      .map(([report, changes, text]): HttpInput => {
        const target = REPORTS.replace("{listener_id}", id);
        const body = changeText(writeJson(mutate(report, changes, ids)), text);
        return { server, caller: "listener", method: "POST", target, body, operation: `POST ${REPORTS}` };
      });
    const asked = fc.constantFrom("", "%00", "x".repeat(5000), "\\u0000", "__proto__").map((version): HttpInput => {
      const target = `${WORK.replace("{listener_id}", id)}?version=${version}`;
      return { server, caller: "listener", method: "GET", target, operation: `GET ${WORK}` };
    });
    const all = fc.oneof({ weight: 9, arbitrary: sent }, { weight: 1, arbitrary: asked });
    return () => all;
  },
  run: runHttp,
};

/** A report as a listener sends it, whose ids may be those of another tenant. */
function plausible({ listener: { own, foreign } }: World): fc.Arbitrary<unknown> {
  const one = (name: keyof typeof own) =>
    fc.oneof({ weight: 3, arbitrary: fc.constant(own[name]) }, { weight: 2, arbitrary: fc.constant(foreign[name]) });
  // one rejected value rejects the whole report
  const mostly = <T>(accepted: T[], rejected: T[]) =>
    fc.oneof(
      { weight: 30, arbitrary: fc.constantFrom(...accepted) },
      { weight: 1, arbitrary: fc.constantFrom(...rejected) },
    );
  const count = mostly([0, 1, 5], [2 ** 31, 2 ** 53 - 1, -1]);
  const generation = mostly([0, 1, 5, 6, 2 ** 52], [2 ** 53 - 1, -1]);
  const position = mostly(["0", "1", "9".repeat(18)], ["9".repeat(19), "-1", "x"]);
  const pod = fc.record({
    uid: one("pod"),
    name: mostly(["pod", "", "\0"], ["x".repeat(400)]),
    revisionId: one("revision"),
    state: fc.constantFrom("starting", "ready", "draining"),
    address: fc.constantFrom(null, { host: "169.254.169.254", port: 80 }, { host: "127.0.0.1", port: 2026 }),
    restarts: count,
  });
  const deployment = fc.record({
    deploymentId: one("deployment"),
    generation,
    liveGeneration: fc.oneof(fc.constant(null), generation),
    state: fc.constantFrom("progressing", "ready", "failed", "removed", "stale"),
    ready: count,
    total: count,
    message: fc.constantFrom(null, "mine", "\0", "\ud800", "x".repeat(30_000)),
    pods: fc.array(pod, { maxLength: 3 }),
  });
  const log = fc.record({
    uid: one("pod"),
    from: position,
    to: position,
    text: fc.constantFrom("a\nb", "", "\0", "\n".repeat(100_000), '{"level":30,"time":"0000-01-01","msg":"x"}'),
  });
  const usage = fc.record({
    problem: fc.constantFrom(null, "none", "\0"),
    pods: fc.array(fc.record({ uid: one("pod"), memoryBytes: count, cpuPercent: mostly([0], [1e300, -1]) }), {
      maxLength: 3,
    }),
  });
  return fc.record(
    { deployments: fc.array(deployment, { maxLength: 3 }), logs: fc.array(log, { maxLength: 3 }), usage },
    { requiredKeys: ["deployments", "logs"] },
  );
}
