import { parseArgs } from "node:util";

import { type Language, LANGUAGES } from "./language.ts";
import { FAULT_KINDS, type FaultKind } from "./plan.ts";

export interface Arguments {
  minutes: number;
  seed: number;
  kinds: FaultKind[];
  /** Language of the graphs. */
  language: Language;
  /** Whether the project declares flow control. */
  flow: boolean;
  keep: boolean;
}

export const HELP = `Usage: npm run chaos -- [options]

Runs three servers on Postgres and Redis under load and faults, and checks the laws of ARCHITECTURE.md.

  --minutes N      how long faults go on (default 30)
  --seed N         the nemesis' choices; the same seed makes the same ones (default: the time)
  --faults KINDS   kinds, or beginnings of kinds, with commas between (default: all)
  --language L     of the graphs, ${LANGUAGES.join(" or ")}; HEDDLE_PYTHON names the interpreter (default: javascript)
  --flow           with flow control, whose limits are watched all the time
  --keep           leave the directory with logs, history and data
  --help

Kinds: ${FAULT_KINDS.join(", ")}

Exits with 1 when a law was broken, with 2 for arguments that are none or a fleet that does not start.
`;

/** @throws Error that names the invalid argument. Returns undefined when help is requested. */
export function readArguments(args: string[]): Arguments | undefined {
  const { values } = parseArgs({
    args,
    options: {
      minutes: { type: "string", default: "30" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      faults: { type: "string" },
      language: { type: "string", default: "javascript" },
      flow: { type: "boolean", default: false },
      keep: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return undefined;
  const minutes = Number(values.minutes);
  if (!(minutes > 0 && minutes <= 24 * 60))
    throw new Error(`--minutes must be from 0 to 1440, not "${values.minutes}"`);
  const seed = Number(values.seed);
  if (!Number.isSafeInteger(seed) || seed < 0) throw new Error(`--seed must be a whole number, not "${values.seed}"`);
  const language = LANGUAGES.find((name) => name === values.language);
  if (!language) throw new Error(`--language must be ${LANGUAGES.join(" or ")}, not "${values.language}"`);
  return { minutes, seed, kinds: readKinds(values.faults), language, flow: values.flow, keep: values.keep };
}

function readKinds(text: string | undefined): FaultKind[] {
  if (text === undefined) return FAULT_KINDS;
  const kinds = text.split(",").flatMap((beginning) => {
    const found = FAULT_KINDS.filter((kind) => kind.startsWith(beginning.trim()));
    if (found.length === 0) throw new Error(`--faults: no kind begins with "${beginning}"`);
    return found;
  });
  return [...new Set(kinds)];
}
