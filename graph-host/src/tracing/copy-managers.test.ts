import { createRequire } from "node:module";

import { CallbackManager } from "@langchain/core/callbacks/manager";
import { ConsoleCallbackHandler } from "@langchain/core/tracers/console";
import { expect, test } from "vitest";

import { copyManagersCheaply } from "./copy-managers.ts";

/** The library's other build, which nothing changes. */
const library = createRequire(import.meta.url)("@langchain/core/callbacks/manager") as { CallbackManager: Class };
type Class = typeof CallbackManager;

function manager(Manager: Class = CallbackManager) {
  const built = new Manager("parent");
  built.addHandler(new ConsoleCallbackHandler(), false);
  built.addTags(["a"]);
  built.addTags(["b"], false);
  built.addMetadata({ own: { deep: 1 }, both: 1 });
  // no longer equal to the inherited value
  built.addMetadata({ local: 1, both: 2 }, false);
  return built;
}

test("copies of callback managers are those of the library", () => {
  copyManagersCheaply();
  const installed = Reflect.get(CallbackManager.prototype, "copy") as unknown;
  copyManagersCheaply();
  expect(Reflect.get(CallbackManager.prototype, "copy")).toBe(installed);
  const copies = (Manager?: Class) => [manager(Manager).copy(), manager(Manager).copy([new ConsoleCallbackHandler()])];
  const [plain, added] = copies();
  expect(JSON.stringify([plain, added])).toBe(JSON.stringify(copies(library.CallbackManager)));
  expect(plain).toMatchObject({
    metadata: { own: { deep: 1 }, local: 1, both: 2 },
    inheritableMetadata: { own: { deep: 1 }, both: 2 },
  });
  // neither shares objects with the original
  const original = manager();
  original.copy().addMetadata({ later: 1 });
  expect(original).not.toMatchObject({ metadata: { later: 1 } });
  expect(original).toMatchObject({ metadata: { local: 1 }, inheritableMetadata: { both: 1 } });
});
