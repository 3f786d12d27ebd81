/**
 * Counts the clicks and keys that a job in the console takes, from the events that the browser receives. The counts are
 * in `job-inputs.json` and may only fall: a job that takes more fails, and HEDDLE_LOWER_JOB_INPUTS=1 saves lower ones.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import type { BrowserContext, Locator } from "playwright-core";

import { until } from "./browser.ts";

const FILE = fileURLToPath(new URL("job-inputs.json", import.meta.url));

export interface Inputs {
  clicks: number;
  /** Keys and chords; typed text is not counted. */
  keys: number;
}

const FOCUS_MS = 800;

const sum = ({ clicks, keys }: Inputs): number => clicks + keys;

/** Counts from now on, in every page of the context. */
export async function countInputs(context: BrowserContext): Promise<Inputs> {
  const inputs: Inputs = { clicks: 0, keys: 0 };
  await context.exposeBinding("countInput", (_source, kind: keyof Inputs) => {
    inputs[kind] += 1;
  });
  await context.addInitScript(() => {
    const count = (kind: string) => (window as unknown as { countInput: (kind: string) => void }).countInput(kind);
    // a drag counts as a click
    window.addEventListener("pointerdown", ({ isTrusted }) => isTrusted && count("clicks"), true);
    window.addEventListener(
      "keydown",
      ({ isTrusted, key }) => isTrusted && !["Control", "Shift", "Alt", "Meta"].includes(key) && count("keys"),
      true,
    );
  });
  return inputs;
}

/** Types text as a user does: clicks the field unless it has the focus. */
export async function enter(field: Locator, text: string): Promise<void> {
  await field.waitFor();
  const isFocused = () => field.evaluate((element) => element === document.activeElement);
  // a form gives its first field the focus a moment after it has opened
  await until(isFocused, { timeout: FOCUS_MS, interval: 20 }).catch(() => field.click());
  // without keydown events, so that the text is not counted
  await field.page().keyboard.insertText(text);
}

/** Returns a line for a job that took more inputs than the saved ones, or is not among them. */
export function tooManyInputs(job: string, inputs: Inputs): string[] {
  const saved = JSON.parse(readFileSync(FILE, "utf8")) as Record<string, Inputs>;
  const known = saved[job];
  if (process.env["HEDDLE_LOWER_JOB_INPUTS"] === "1" && (!known || sum(inputs) < sum(known))) {
    const jobs = Object.entries({ ...saved, [job]: inputs }).toSorted(([a], [b]) => (a < b ? -1 : 1));
    writeFileSync(FILE, `${JSON.stringify(Object.fromEntries(jobs), null, 2)}\n`);
    return [];
  }
  const took = `${job} took ${inputs.clicks} clicks and ${inputs.keys} keys`;
  if (!known) return [`${took}, and is not in job-inputs.json: run the test with HEDDLE_LOWER_JOB_INPUTS=1`];
  return sum(inputs) > sum(known) ? [`${took}, before ${known.clicks} and ${known.keys}`] : [];
}

/** Does the same for the inputs since the last job of the page, and starts to count those of the next. */
export function endJob(job: string, inputs: Inputs): string[] {
  const problems = tooManyInputs(job, { ...inputs });
  Object.assign(inputs, { clicks: 0, keys: 0 });
  return problems;
}
