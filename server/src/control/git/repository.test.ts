import { expect, test } from "vitest";

import { isOfHost } from "./repository.ts";

test.each([
  ["https://git.example/team/agent", "https://git.example", true],
  ["https://git.example/team/agent", "https://git.example/team", true],
  // a token for one repository, in each spelling of its URL
  ["https://git.example/team/agent", "https://git.example/team/agent", true],
  ["https://git.example/team/agent.git", "https://git.example/team/agent.git", true],
  ["https://git.example/team/agent.git", "https://git.example/team/agent", true],
  ["https://git.example/team/agent/", "https://git.example/team/agent.git", true],
  ["https://git.example/team/agents", "https://git.example/team/agent", false],
  ["https://git.example/teams/agent", "https://git.example/team", false],
  ["https://git.example:8443/team/agent", "https://git.example/team/agent", false],
  ["http://git.example/team/agent", "https://git.example/team/agent", false],
])("%s with a token for %s: %s", (repository, base, isIt) => {
  expect(isOfHost(new URL(repository), base)).toBe(isIt);
});
