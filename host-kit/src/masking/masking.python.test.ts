/** Compares the detectors of both languages over many texts: what one host masks, the other must mask too. */
import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { DETECTORS } from "./detectors.ts";
import { maskText } from "./mask-json.ts";
import { readMasking } from "./read-masking.ts";

const HOST = fileURLToPath(new URL("../../../graph-host-python", import.meta.url));
const MASK = `
import json, sys
from heddle_host.tracing.masking import DETECTORS, Masking, mask_text, read_masking
rules = [Masking(detectors=DETECTORS)]
def is_read(setting):
    try:
        return bool(read_masking(setting)) or "empty"
    except Exception:
        return False
given = json.load(sys.stdin)
json.dump({
    "texts": [mask_text(text, rules, name=name) for name, text in given["texts"]],
    "settings": [is_read(text) for text in given["settings"]],
}, sys.stdout)
`;

function inPython(given: { texts?: [string, string][]; settings?: string[] }): {
  texts: string[];
  settings: unknown[];
} {
  const input = JSON.stringify({ texts: [], settings: [], ...given });
  const { stdout, stderr, status } = spawnSync(process.env["HEDDLE_PYTHON"]!, ["-c", MASK], {
    cwd: HOST,
    input,
    encoding: "utf8",
    maxBuffer: 1 << 28,
  });
  if (status !== 0) throw new Error(stderr);
  return JSON.parse(stdout) as { texts: string[]; settings: unknown[] };
}

/** Returns the texts, with the name of their field, that the languages mask differently. */
function differences(texts: [name: string, text: string][]) {
  const python = inPython({ texts }).texts;
  const rule = { path: [], detectors: [...DETECTORS] };
  return texts.flatMap(([name, text], i) => {
    const javascript = maskText(text, [rule], [0], [], name);
    return javascript === python[i] ? [] : [{ name, text, javascript, python: python[i] }];
  });
}

const labelled = JSON.parse(readFileSync(new URL("labelled.json", import.meta.url), "utf8")) as {
  name?: string;
  text: string;
}[];
const seeds: [string, string][] = [
  ...labelled.map(({ name = "", text }): [string, string] => [name, text]),
  ["", "téléphone: 0612345678"],
  ["", "teléfono 612345678"],
  ["", "móvil 612345678"],
  ["", "手机 13812345678"],
  ["", "иван@почта.рф"],
  ["customer_phone_number", "0612345678"],
  ["session_token", "anything"],
  ["", 'password="correct horse"'],
  ["", "https://user:secret@host.example/"],
];

/** Characters whose case, class or length differs between languages or between flags of their patterns. */
const ODD = [
  ...Array.from("ſ\u212a\u0130ıéÉóÓµÿŸßẞⱥȺ\u2126Ω\u212båÅǅǆ"),
  ...Array.from("٣３²\u00a0\u2011\u2028\u2029\u0085\u000b\u001c\r\n\t"),
  ...Array.from("字\u303f\u3040\u00bf\u00c0\u1fff\u2000\ud7ff\ue000\uf8ff\uf900\ufb00"),
  ...["😀", "😀😀😀", "𝟘", "𐐨", "\ud83d", "\ude00", "a\u0301", "-", "_", ".", "@", "0", "A", "a"],
];

const title = (text: string) => text.replaceAll(/\p{L}+/gu, (word) => word[0]!.toUpperCase() + word.slice(1));
const cases = ([name, text]: [string, string]): [string, string][] => [
  [name.toUpperCase(), text.toUpperCase()],
  [name.toLowerCase(), text.toLowerCase()],
  [title(name), title(text)],
];

/** A linear congruential generator: the same texts in every run. */
let state = 7;
const random = (below: number) => (state = (state * 1_103_515_245 + 12_345) % 2_147_483_648) % below;
function mutate(text: string): string {
  const [at, odd, kind] = [random(text.length + 1), ODD[random(ODD.length)]!, random(4)];
  if (kind === 0) return text.slice(0, at) + odd + text.slice(at);
  if (kind === 1) return text.slice(0, at) + odd + text.slice(at + 1);
  if (kind === 2) return text.slice(0, at) + text.slice(at + 1);
  return text + odd;
}

test("texts in any case are masked alike", () => {
  expect(differences([...seeds, ...seeds.flatMap(cases)])).toEqual([]);
});

test("texts with odd characters are masked alike", () => {
  const texts = seeds.flatMap((seed) =>
    Array.from({ length: 150 }, (): [string, string] => {
      const [name, text] = random(2) === 0 ? seed : cases(seed)[random(3)]!;
      return [random(3) === 0 && name !== "" ? mutate(name) : name, mutate(random(3) === 0 ? mutate(text) : text)];
    }),
  );
  expect(texts.length).toBeGreaterThan(15_000);
  expect(differences(texts)).toEqual([]);
}, 120_000);

test("every character with another case is masked alike in words and addresses", () => {
  const texts: [string, string][] = [];
  for (let code = 0x80; code < 0x10000; code++) {
    const char = String.fromCharCode(code);
    if (char.toUpperCase() === char && char.toLowerCase() === char) continue;
    for (const text of [`t${char}léphone 0612345678`, `m${char}vil 612345678`, `${char}tel 612345678`]) {
      texts.push(["", text]);
    }
    texts.push(
      ["", `x${char}@example.com`],
      ["", `x@${char}.com`],
      ["", `x@a.b${char}`],
      [`${char}_pas${char}word`, "x"],
    );
  }
  expect(differences(texts)).toEqual([]);
}, 120_000);

test("a repetition counts characters beyond the basic plane alike", () => {
  const texts = [1, 2, 3, 4, 6, 127, 128, 129, 255, 256, 257].flatMap((n): [string, string][] =>
    ["password=X", "https://user:X@host.example", "tel X 612345678"].map((text) => [
      "",
      text.replace("X", "😀".repeat(n)),
    ]),
  );
  const names = [19, 20, 21, 38, 39, 40, 41].map((n): [string, string] => [`${"😀".repeat(n)}_password`, "x"]);
  expect(differences([...texts, ...names])).toEqual([]);
});

test("both languages read the same settings", () => {
  const settings = [
    ...[
      "",
      " ",
      "email",
      "email, card",
      "email,",
      "emails",
      "[]",
      "[{}]",
      "[1]",
      "[[]]",
      "[null]",
      '{"fields":["inputs"]}',
    ],
    ...[null, "inputs", [], ["inputs"], ["input"], [1]].map((fields) => JSON.stringify([{ fields }])),
    ...[null, "", "a.*", 1, ["a"]].map((path) => JSON.stringify([{ path }])),
    ...[null, "email", [], ["email"], ["emails"], {}].map((detectors) => JSON.stringify([{ detectors }])),
    ...[null, "", "x+", "x(", 1].map((pattern) => JSON.stringify([{ pattern }])),
    ...[null, "", "x", 1].map((replacement) => JSON.stringify([{ replacement }])),
  ];
  const javascript = settings.map((text) => {
    try {
      return readMasking(text) ? true : "empty";
    } catch {
      return false;
    }
  });
  const python = inPython({ settings }).settings;
  expect(settings.map((text, i) => [text, python[i]])).toEqual(settings.map((text, i) => [text, javascript[i]]));
});
