import { expect, test } from "vitest";
import { url } from "./clients.ts";
import { PROTOCOLS, refusals } from "./immediate-answers.ts";

test.each(Object.entries(PROTOCOLS))(
  "20 of 20 answers that are sent as soon as the interrupt is visible are accepted: %s",
  async (_, connect) => {
    expect(await refusals(await connect(url), 20)).toEqual([]);
  },
);
