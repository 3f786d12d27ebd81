import { expect, test } from "vitest";

import type { AppError } from "../../base/errors.ts";
import { createOutbound, type Outbound } from "../../base/outbound/outbound.ts";
import { readPolicy } from "../../base/outbound/policy.ts";
import { OAuthClients } from "./client-document.ts";

const ID = "https://app.example/client.json";
const DOCUMENT = { client_id: ID, client_name: "App", redirect_uris: ["https://app.example/cb"] };

/** The client's server; counts its requests. */
function serving(answer: () => Response) {
  const asked: { url: string; redirect: string | undefined }[] = [];
  const fetch: Outbound["fetch"] = (url, init) => {
    asked.push({ url: String(url), redirect: init?.redirect });
    return Promise.resolve(answer());
  };
  return { clients: new OAuthClients({ fetch }), asked };
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => [200, ""],
    (error: AppError) => [error.status, error.message],
  );

test("a client is what its document says, which is fetched once in five minutes, without following redirects", async () => {
  const { clients, asked } = serving(() => Response.json({ ...DOCUMENT, logo_uri: "https://x.example" }));
  const expected = { client_name: "App", redirect_uris: DOCUMENT.redirect_uris, client_host: "app.example" };
  expect(await Promise.all([clients.find(ID), clients.find(ID)])).toEqual([expected, expected]);
  await clients.find(ID);
  expect(asked).toEqual([{ url: ID, redirect: "manual" }]);
});

test.each(["no-store", "private, no-cache", "max-age=10"])("a document with %s is fetched each time", async (rule) => {
  const { clients, asked } = serving(() => Response.json(DOCUMENT, { headers: { "cache-control": rule } }));
  await clients.find(ID);
  await clients.find(ID);
  expect(asked).toHaveLength(2);
});

test.each<[string, () => Response, string]>([
  ["another client_id", () => Response.json({ ...DOCUMENT, client_id: `${ID}x` }), "another client_id"],
  ["a redirect", () => new Response(null, { status: 302, headers: { location: "https://y.example" } }), "answered 302"],
  ["no JSON", () => new Response("<html>"), "not JSON"],
  ["a list", () => Response.json([]), "wrong document"],
  ["no redirect_uris", () => Response.json({ ...DOCUMENT, redirect_uris: [] }), "redirect_uris"],
  ["a redirect to a script", () => Response.json({ ...DOCUMENT, redirect_uris: ["javascript:x"] }), "redirect_uris"],
  ["a null character", () => Response.json({ ...DOCUMENT, client_name: "a\0b" }), "client_name"],
  ["a secret", () => Response.json({ ...DOCUMENT, token_endpoint_auth_method: "client_secret_post" }), "public"],
])("rejects a document with %s, and does not remember it", async (_, answer, message) => {
  const { clients, asked } = serving(answer);
  for (let i = 0; i < 2; i++) expect(await failure(clients.find(ID))).toEqual([422, expect.stringContaining(message)]);
  expect(asked).toHaveLength(2);
});

test.each([
  "http://app.example/client.json",
  "https://app.example",
  "https://app.example/",
  "https://app.example/a/../b",
  "https://app.example/a#",
  "https://app.example/a#b",
  "https://u:p@app.example/a",
  "https://APP.example/a",
  "https://app.example:443/a",
  "https://",
])("rejects %s as an id without a request", async (id) => {
  const { clients, asked } = serving(() => Response.json(DOCUMENT));
  expect(await failure(clients.find(id))).toEqual([422, expect.stringContaining("client_id")]);
  expect(asked).toEqual([]);
});

test.each(["127.0.0.1", "10.1.2.3", "[::1]", "169.254.169.254", "metadata.google.internal", "localhost"])(
  "fetches nothing from %s",
  async (host) => {
    const outbound = createOutbound(readPolicy("", false));
    const clients = new OAuthClients(outbound);
    expect(await failure(clients.find(`https://${host}/client.json`))).toEqual([
      422,
      expect.stringContaining(host.replace(/[[\]]/g, "")),
    ]);
    await outbound.close();
  },
);
