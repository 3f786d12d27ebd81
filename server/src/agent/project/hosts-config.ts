/** `heddle.hosts` of langgraph.json: what graph hosts open and close (docs/configuration.md). */
import { z } from "zod";

const path = z.string().regex(/.:./, 'must be "./file.ts:function" or "./file.py:function"');

export const hostsSection = z.strictObject({
  /** Functions that each host of their language calls when it starts. */
  lifespan: z.union([path.transform((one) => [one]), z.array(path)]).nullish(),
});
