import { expect, test } from "vitest";

import { placeNodes } from "./layout.ts";

const edges = [
  { source: "__start__", target: "model" },
  { source: "model", target: "tools", conditional: true },
  { source: "tools", target: "model" },
  { source: "model", target: "__end__", conditional: true },
  { source: "model", target: "nowhere" },
];
const nodes = ["__start__", "model", "tools", "__end__"].map((id) => ({ id }));

test("nodes are placed below their predecessors without overlap", () => {
  const at = Object.fromEntries(placeNodes({ nodes, edges }).map((place) => [place.id, place]));
  expect(at["__start__"]!.y).toBeLessThan(at["model"]!.y);
  expect(at["model"]!.y).toBeLessThan(at["__end__"]!.y);
  const places = Object.values(at);
  for (const a of places) {
    for (const b of places.filter((other) => other !== a)) {
      const apart = a.x + a.width <= b.x || b.x + b.width <= a.x || a.y + a.height <= b.y || b.y + b.height <= a.y;
      expect(apart, `${a.id} and ${b.id}`).toBe(true);
    }
  }
});

test("lays out a graph of two hundred nodes in under two seconds", () => {
  const many = Array.from({ length: 200 }, (_, n) => ({ id: `n${n}` }));
  const chain = many.slice(1).map(({ id }, n) => ({ source: `n${Math.floor(n / 2)}`, target: id }));
  const start = performance.now();
  expect(placeNodes({ nodes: many, edges: chain })).toHaveLength(200);
  expect(performance.now() - start).toBeLessThan(2_000);
});
