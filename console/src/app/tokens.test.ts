import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { describe, expect, test } from "vitest";

import { ROLES, theme } from "./theme.ts";

const sources = new URL("..", import.meta.url);
const css = readFileSync(new URL("tokens.css", import.meta.url), "utf8");

/** Reads the tokens of a scheme; with high contrast, those of the media query replace them. */
function readTokens(scheme: "light" | "dark", isHighContrast: boolean): Record<string, string> {
  const blocks = [...css.matchAll(new RegExp(`color-scheme="${scheme}"\\] \\{([^}]*)\\}`, "g"))];
  expect(blocks).toHaveLength(2);
  const read = blocks
    .slice(0, isHighContrast ? 2 : 1)
    .flatMap(([, block]) => [...block!.matchAll(/--(?:heddle|mantine-color)-([\w-]+): (#[\da-f]{6});/g)]);
  const body = scheme === "light" ? "#ffffff" : (theme.colors!.dark![7] as string);
  const control = scheme === "light" ? "#ffffff" : (theme.colors!.dark![6] as string);
  return { white: "#ffffff", body, control, ...Object.fromEntries(read.map(([, name, value]) => [name!, value!])) };
}

type Rgb = [number, number, number];
const toLinear = (hex: string): Rgb =>
  [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as Rgb;

/** Contrast ratio of WCAG 2.2. */
function contrast(one: string, other: string): number {
  const [low, high] = [one, other]
    .map((hex) => toLinear(hex))
    .map(([red, green, blue]) => 0.2126 * red + 0.7152 * green + 0.0722 * blue)
    .toSorted((a, b) => a - b);
  return (high! + 0.05) / (low! + 0.05);
}

/** What readers without one kind of cones see, in linear RGB (Machado, Oliveira and Fernandes, 2009). */
const VISIONS: Record<string, [Rgb, Rgb, Rgb]> = {
  normal: [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  protanopia: [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  deuteranopia: [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  tritanopia: [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const dot = (a: Rgb, b: Rgb) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const times = (rows: [Rgb, Rgb, Rgb], vector: Rgb) => rows.map((row) => dot(row, vector)) as Rgb;

/** Distance in OKLab, times 100: about 2 is the least that is seen. */
function difference(one: string, other: string, vision: string): number {
  const [a, b] = [one, other].map((hex) => {
    const seen = times(VISIONS[vision]!, toLinear(hex)).map((part) => Math.min(1, Math.max(0, part))) as Rgb;
    const cones = times(
      [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
      ],
      seen,
    ).map(Math.cbrt) as Rgb;
    return times(
      [
        [0.2104542553, 0.793617785, -0.0040720468],
        [1.9779984951, -2.428592205, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.808675766],
      ],
      cones,
    );
  });
  return 100 * Math.hypot(...a!.map((part, index) => part - b![index]!));
}

const SERIES = Array.from({ length: 8 }, (_, index) => `series-${index + 1}`);

/** Pairs of tokens: a foreground, the backgrounds it is on, and the ratio that they need. */
function pairs(
  isHighContrast: boolean,
  isLight: boolean,
): [foreground: string, backgrounds: string[], limit: number][] {
  const [text, lines] = isHighContrast ? [7, 4.5] : [4.5, 3];
  const surfaces = ["body", "control", "raised", "default-hover"];
  return [
    ["text", [...surfaces, "selection-quiet", ...ROLES.map((role) => `${role}-quiet`)], 7],
    ["dimmed", [...surfaces, "selection-quiet", "neutral-quiet"], text],
    ["placeholder", ["body", "control"], 4.5],
    ["link", [...surfaces, "selection-quiet"], text],
    // in a sentence without an underline
    ...(isLight && !isHighContrast ? ([["link", ["text"], 3]] as [string, string[], number][]) : []),
    ...ROLES.flatMap((role): [string, string[], number][] => [
      [role, [...surfaces, `${role}-quiet`, "selection-quiet"], text],
      ["white", [`${role}-fill`], text],
    ]),
    ...["code-key", "code-string", "code-number"].map((name): [string, string[], number] => [name, surfaces, 4.5]),
    ["selection", [...surfaces, "selection-quiet"], lines],
    ["focus", [...surfaces, "selection-quiet"], lines],
    ...SERIES.map((name): [string, string[], number] => [name, ["body", "control", "raised"], lines]),
    ...(isHighContrast ? ([["default-border", ["body"], 3]] as [string, string[], number][]) : []),
  ];
}

describe.each(["light", "dark"] as const)("tokens of the %s scheme", (scheme) => {
  test.each([false, true])("each pair has the contrast that it needs; high contrast: %s", (isHighContrast) => {
    const tokens = readTokens(scheme, isHighContrast);
    const found = pairs(isHighContrast, scheme === "light").flatMap(([foreground, backgrounds, limit]) =>
      backgrounds.map((background) => {
        const ratio = contrast(tokens[foreground]!, tokens[background]!);
        return ratio >= limit ? null : `${foreground} on ${background}: ${ratio.toFixed(2)} of ${limit}`;
      }),
    );
    expect(found.filter((line) => line !== null)).toEqual([]);
  });

  test.each([false, true])("colour-blind readers tell series apart, and from errors; high contrast: %s", (isHigh) => {
    const tokens = readTokens(scheme, isHigh);
    const found = Object.keys(VISIONS).flatMap((vision) =>
      SERIES.flatMap((one, index) => SERIES.slice(index + 1).map((other) => [one, other] as const)).flatMap(
        ([one, other]) => {
          const distance = difference(tokens[one]!, tokens[other]!, vision);
          return distance >= 6 ? [] : [`${vision}: ${one} and ${other} ${distance.toFixed(1)}`];
        },
      ),
    );
    const red = SERIES.filter((name) => difference(tokens[name]!, tokens["danger"]!, "normal") < 10);
    expect([...found, ...red]).toEqual([]);
  });
});

test("components name roles, not colours, and only roles that exist", () => {
  const found: string[] = [];
  for (const file of readdirSync(sources, { recursive: true, encoding: "utf8" })) {
    if (!/\.(css|tsx?)$/.test(file) || /app\/(tokens|theme)\.|\.test\.ts$|mantine\.css$/.test(file)) continue;
    const text = readFileSync(join(sources.pathname, file), "utf8");
    for (const [name] of text.matchAll(/--mantine-color-[a-z]+-\d|--mantine-primary[\w-]*|--heddle-[\w-]*\w/g)) {
      if (!css.includes(`${name}:`) && !/-series$|^--heddle$/.test(name)) found.push(`${file}: ${name}`);
    }
    for (const [color] of text.matchAll(
      /\b(?:color|c)(?:=|: )"(?:red|green|teal|blue|orange|yellow|gray)"|#[\da-f]{6}\b/g,
    )) {
      found.push(`${file}: ${color}`);
    }
  }
  expect(found).toEqual([]);
});
