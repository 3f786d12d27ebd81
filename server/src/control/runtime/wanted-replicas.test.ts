import { expect, test } from "vitest";

import type { ResourceSpec } from "../deployments/schema.ts";
import { type Load, replicaTarget, wantedReplicas } from "./wanted-replicas.ts";

const load = (more: Partial<Load>): Load => ({ replicas: 2, queue: null, cpuPercent: null, cpu: 1, cores: 8, ...more });
const queue = (due: number, running: number, slots = 10) => load({ queue: { due, running, slots }, cpuPercent: 10 });

test("adds a replica for every ten runs that wait for a slot", () => {
  expect(wantedReplicas(queue(1, 20))).toBe(3);
  expect(wantedReplicas(queue(11, 20))).toBe(4);
});

test("adds no replica for runs that wait for their threads while slots are free", () => {
  expect(wantedReplicas(queue(50, 16))).toBe(2);
  expect(wantedReplicas(queue(50, 1))).toBe(1);
});

test("removes replicas when the running runs fit into fewer, with headroom", () => {
  expect(wantedReplicas(queue(0, 8))).toBe(2);
  expect(wantedReplicas(queue(0, 7))).toBe(1);
  // all slots are taken and no run waits
  expect(wantedReplicas(queue(0, 20))).toBe(2);
  expect(wantedReplicas(queue(0, 0))).toBe(1);
});

test("adds replicas until each uses three quarters of a CPU, up to the machine's cores", () => {
  expect(wantedReplicas(load({ cpuPercent: 200 }))).toBe(3);
  expect(wantedReplicas(load({ cpuPercent: 155 }))).toBe(2);
  expect(wantedReplicas(load({ cpuPercent: 60 }))).toBe(1);
  expect(wantedReplicas(load({ cpuPercent: 1500 }))).toBe(8);
  expect(wantedReplicas(load({ cpuPercent: 400, cores: 2 }))).toBe(2);
  expect(wantedReplicas(load({ cpuPercent: 400, cores: 1 }))).toBe(2);
  expect(wantedReplicas(load({}))).toBe(2);
});

test("a revision's limits override what its load requires", () => {
  const of = (scale: number | null, resource_spec: ResourceSpec | null) =>
    replicaTarget({ scale, source_config: { resource_spec } });
  expect(of(null, null)).toBe(1);
  expect(of(5, null)).toBe(1);
  expect(of(null, { min_scale: 2, max_scale: 4 })).toBe(2);
  expect(of(3, { min_scale: 2, max_scale: 4 })).toBe(3);
  expect(of(9, { min_scale: 2, max_scale: 4 })).toBe(4);
  expect(of(3, { min_scale: 5 })).toBe(5);
  expect(of(null, { min_scale: 0, max_scale: 3 })).toBe(1);
});
