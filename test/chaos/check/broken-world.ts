import { sampleWorld, threadView } from "./sample-world.ts";
import type { LedgerLine, Verdict, World } from "./world.ts";

export type Break = (world: World) => unknown;

/** Returns the violations that a check reports for the sample world after `change`. */
export function violationsAfter(check: (world: World) => Verdict, change: Break): string[] {
  const world = sampleWorld();
  change(world);
  return check(world).violations.map(({ text }) => text);
}

export const line = (world: World, run: string, step: number, phase = "start"): LedgerLine =>
  world.ledger.find((entry) => entry.run === run && entry.step === step && entry.phase === phase)!;
export const row = (world: World, run: string) => world.runs.find((entry) => entry.run === run)!;
export const reader = (world: World, name: string) => world.operations.find((op) => op.reader === name)!;
export const setState = (world: World, done: string[]) => (world.threads = [threadView(done, world.checkpoints)]);
