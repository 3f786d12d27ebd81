/** Tests of the reconciler's requests and reports with recorded responses of a real API server (Kubernetes 1.31). */
import { readFileSync } from "node:fs";

import { expect, test } from "vitest";

import { type Exchange, replayApi } from "../../../test/api-cassette.ts";
import { playScene, SCENES } from "../../../test/cluster-scenes.ts";

const read = (name: string): Exchange[] =>
  JSON.parse(readFileSync(new URL(`recorded/${name}.json`, import.meta.url), "utf8")) as Exchange[];

/** Returns the written objects, without the resource versions of the recording. */
const written = (exchanges: readonly Exchange[]) => {
  const objects = new Map<string, unknown>();
  for (const { method, path, sent } of exchanges) {
    if (method !== "PATCH") continue;
    const { metadata, ...rest } = sent as { metadata: Record<string, unknown> };
    objects.set(path, { ...rest, metadata: { ...metadata, resourceVersion: undefined } });
  }
  return Object.fromEntries(objects);
};

const deleted = (exchanges: readonly Exchange[]) =>
  [...new Set(exchanges.flatMap(({ method, path }) => (method === "DELETE" ? [path] : [])))].sort();

test.each(SCENES)("$name: ends as $until, with the requests that the API server accepted", async (scene) => {
  const recorded = read(scene.name);
  const replay = await replayApi(recorded);
  try {
    const reports = await playScene(replay.api, scene, 20_000);
    expect(reports.at(-1)).toMatchObject({ state: scene.until, generation: scene.desired.generation });
    expect(written(replay.sent)).toEqual(written(recorded));
    expect(deleted(recorded)).toEqual(expect.arrayContaining(deleted(replay.sent)));
    const isChange = scene.until === "ready" || scene.until === "failed";
    expect(Object.keys(written(recorded))).toHaveLength(isChange ? 6 : 0);
  } finally {
    await replay.close();
  }
});
