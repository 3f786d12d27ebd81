import { expect, test } from "vitest";

import { openGuard } from "../../server/test/principal.ts";
import { startSpaces } from "../../test/security/spaces.ts";
import { describeSpaces } from "./describe-spaces.ts";

const { all } = await startSpaces();
const described = await describeSpaces();

test.each(all.map((space) => [space.name, space] as const))(
  "the document of the %s space is the one that its server answers",
  async (name, space) => {
    const response = await space.mount(openGuard).request("/openapi.json");
    expect(described[name as keyof typeof described]).toEqual(await response.json());
  },
);
