/** `heddle.hosts` of langgraph.json: what graph hosts open and close (docs/configuration.md). */
import { z } from "zod";

import { type Language, languageOf } from "../../base/graph-language.ts";
import type { Project } from "./read-project.ts";

const path = z.string().regex(/.:./, 'must be "./file.ts:function" or "./file.py:function"');

export const hostsSection = z.strictObject({
  /** Functions that each host of their language calls when it starts. */
  lifespan: z.union([path.transform((one) => [one]), z.array(path)]).nullish(),
});

/** The functions of hosts of a language. */
export const lifespanOf = ({ config }: Pick<Project, "config">, language: Language): string[] =>
  (config.heddle?.hosts?.lifespan ?? []).filter((one) => languageOf(one) === language);
