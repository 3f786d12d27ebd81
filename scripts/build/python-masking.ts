/**
 * Generates the Python shapes of masking from host-kit/src/masking/detectors.ts:
 *
 *     node --import tsx scripts/build/python-masking.ts [--write]
 *
 * Without `--write` it exits with 1 when the committed file differs.
 */
import { fileURLToPath } from "node:url";

import {
  BARE_PHONE,
  CARD,
  DETECTORS,
  IBAN_LENGTHS,
  NO_PHONE,
  PHONE_NAME,
  SECRET_NAME,
  SHAPES,
} from "../../host-kit/src/masking/detectors.ts";
import { TEXT } from "../../host-kit/src/masking/mask-attachment.ts";
import { writeOrCompare } from "./generated-file.ts";

const TARGET = fileURLToPath(new URL("../../graph-host-python/heddle_host/tracing/masking_shapes.py", import.meta.url));

const ascii = (text: string) =>
  text.replaceAll(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
const quoted = (text: string) => `"${text.replaceAll('"', '\\"')}"`;
const raw = (text: string): string => `r${quoted(ascii(text))}`;
const TOKEN = /\\u[0-9a-f]{4}|\\.|\[(?:\\.|[^\]\\])*\]|./gsu;

/** Returns a pattern for Python with re.ASCII. Fails on what the languages read differently. */
function compiled({ source, flags }: RegExp): string {
  const ignoresCase = flags.includes("i");
  if (ignoresCase && /[^\x20-\x7e]|\\u/.test(source)) throw new Error(`i folds other letters in Python: ${source}`);
  const pattern = source.replaceAll(TOKEN, (token) => {
    if (token === "." || /\\[sSpP]/.test(token)) throw new Error(`${token} has other characters in Python: ${source}`);
    // Python's $ also stands before a line feed at the end
    return token === "$" ? "\\Z" : token;
  });
  return `re.compile(${raw(pattern)}, ${ignoresCase ? "re.ASCII | re.IGNORECASE" : "re.ASCII"})`;
}

const shapes = DETECTORS.flatMap((name) => [
  `    ${quoted(name)}: [`,
  ...SHAPES[name].map(({ pattern, check }) => `        (${compiled(pattern)}, ${check ? quoted(check) : "None"}),`),
  "    ],",
]);

const text = `"""Shapes of personal data and secrets: generated from host-kit/src/masking/detectors.ts, which describes them.

\`npm run host-frames\` writes this file.
"""

# ruff: noqa: E501
# fmt: off
from __future__ import annotations

import re

# a pattern, of which a first group stands before and stays, and the name of a check
Shape = tuple[re.Pattern[str], str | None]

# in the order in which they are applied
SHAPES: dict[str, list[Shape]] = {
${shapes.join("\n")}
}
${Object.entries({ SECRET_NAME, PHONE_NAME, BARE_PHONE, CARD, NO_PHONE, TEXT })
  .map(([name, pattern]) => `${name} = ${compiled(pattern)}`)
  .join("\n")}
IBAN_LENGTHS = ${raw(IBAN_LENGTHS)}
`;

writeOrCompare(TARGET, text, `${TARGET} is not that of detectors.ts. Run: npm run host-frames`);
