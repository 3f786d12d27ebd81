import { expect, test } from "vitest";

import { hostEnvironment } from "./host-environment.ts";

test("graphs receive the project's and the server's variables, but not the keys of stored secrets", () => {
  const server = { OPENAI_API_KEY: "o", BOTH: "server", HEDDLE_SECRETS_KEYS: "k:v", HEDDLE_LOG_LEVEL: "info" };
  expect(hostEnvironment({ BOTH: "project", MINE: "m", HEDDLE_SECRETS_KEYS: "x:y" }, server)).toEqual({
    OPENAI_API_KEY: "o",
    BOTH: "server",
    MINE: "m",
    HEDDLE_LOG_LEVEL: "info",
  });
});

test("graphs receive a database's address from their project only, unless it is the server's", () => {
  const server = { DATABASE_URI: "own", HEDDLE_DEPLOYMENT_DATABASE_URI: "own", PGPASSWORD: "own" };
  expect(hostEnvironment({}, server)).toEqual({});
  expect(hostEnvironment({ DATABASE_URI: "own", PGPASSWORD: "mine" }, server)).toEqual({ PGPASSWORD: "mine" });
  expect(hostEnvironment({ DATABASE_URI: "mine" }, {})).toEqual({ DATABASE_URI: "mine" });
});
