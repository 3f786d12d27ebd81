import { expect, test } from "vitest";

import { choice, flag, integer, readOptions, text } from "./options.ts";

const declared = {
  port: integer({ env: ["A_PORT", "PORT"], default: 1, max: 65_535, description: "Where to listen." }),
  name: text({ env: ["NAME"], default: undefined, description: "A name." }),
  loud: flag({ env: ["LOUD"], default: false, description: "Be loud." }),
  mode: choice({ env: ["MODE"], default: "a", of: ["a", "b"], description: "How." }),
};

test("a flag overrides the first variable that is set, which overrides the default", () => {
  expect(readOptions(declared, {}).port).toBe(1);
  expect(readOptions(declared, { PORT: "2", A_PORT: "3" }).port).toBe(3);
  expect(readOptions(declared, { PORT: "2", A_PORT: "" }).port).toBe(2);
  expect(readOptions(declared, { PORT: "2" }, { port: 4 }).port).toBe(4);
});

test("reports all invalid values at once, by the name of their variable", () => {
  const read = () => readOptions(declared, { PORT: "70000", LOUD: "maybe", MODE: "c", NAME: "fine" });
  expect(read).toThrow(/PORT must be a whole number from 0 to 65535/);
  expect(read).toThrow(/LOUD must be true or false/);
  expect(read).toThrow(/MODE must be one of a, b/);
});
