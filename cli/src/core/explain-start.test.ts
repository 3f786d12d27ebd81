import { expect, test } from "vitest";

import { explainStart } from "./explain-start.ts";

const target = { host: "127.0.0.1", port: 1, portFlag: "--port", portVariable: "PORT", databaseUri: undefined };
const failed = (code: string) => Object.assign(new Error(`connect ${code}`), { code });

test("explains a failed start by its port or its Postgres, without a password", () => {
  expect(explainStart(failed("EADDRINUSE"), target).message).toBe(
    "Port 1 is in use on 127.0.0.1. Choose another port with --port or PORT.",
  );
  const databaseUri = "postgres://ada:secret@db.example:5432/heddle";
  expect(explainStart(failed("ECONNREFUSED"), { ...target, databaseUri }).message).toBe(
    "The Postgres at db.example:5432/heddle (--postgres-uri or DATABASE_URI) rejected the connection: connect " +
      "ECONNREFUSED",
  );
  for (const code of ["57P01", "57P03", "53300", "CONNECTION_CLOSED", "28P01"])
    expect(explainStart(failed(code), { ...target, databaseUri }).message).toContain("rejected the connection");
  const other = new Error("something else");
  expect(explainStart(other, { ...target, databaseUri })).toBe(other);
});
