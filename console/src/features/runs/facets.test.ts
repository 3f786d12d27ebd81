import { expect, test } from "vitest";

import { ownMetadataFirst } from "./facet-queries.ts";

test("the user's own metadata comes before that of SDKs", () => {
  const keys = [
    "model",
    "metadata.LANGSMITH_ENDPOINT",
    "metadata.revision_id",
    "metadata.plan",
    "feedback",
    "metadata.ls_provider",
  ];
  const facets = keys.map((key) => ({ key, value: "x", n: 1, query: "" }));
  expect(ownMetadataFirst(facets).map(({ key }) => key)).toEqual([
    "model",
    "metadata.plan",
    "feedback",
    "metadata.LANGSMITH_ENDPOINT",
    "metadata.revision_id",
    "metadata.ls_provider",
  ]);
});
