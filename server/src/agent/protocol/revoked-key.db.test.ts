import { expect, test } from "vitest";
import WebSocket from "ws";

import { testAgentServer } from "../../../test/agent-server.ts";
import { testDatabase } from "../../../test/db.ts";
import { testGuard, testWorkspace } from "../../../test/identity.ts";
import { listenAgent } from "../../../test/protocol-client.ts";
import { hashKey } from "../../identity/api-keys/key-text.ts";

const db = await testDatabase();
const { admin, editor } = await testWorkspace(db, "A");
const guard = { ...(await testGuard(db)), recheckMs: 100 };
const { url } = await listenAgent(await testAgentServer({}, undefined, { db }), {}, guard);

test("revoking a key cuts its open streams, and no others", async () => {
  const created = await fetch(`${url}/threads`, { method: "POST", headers: { "x-api-key": admin } });
  const { thread_id: threadId } = (await created.json()) as { thread_id: string };
  const path = `/threads/${threadId}/stream`;

  const open = async (key: string) => {
    const response = await fetch(url + path, { headers: { "x-api-key": key } });
    const stream = { status: response.status, ended: false };
    void response
      .text()
      .catch(() => {})
      .finally(() => (stream.ended = true));
    return stream;
  };
  const [revoked, valid] = [await open(editor), await open(admin)];
  const socket = new WebSocket(`${url.replace("http", "ws")}${path}/events`, { headers: { "x-api-key": editor } });
  await new Promise((opened, failed) => socket.once("open", opened).once("error", failed));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect([revoked, valid, socket.readyState]).toEqual([
    { status: 200, ended: false },
    { status: 200, ended: false },
    WebSocket.OPEN,
  ]);

  await db.sql`update api_keys set revoked_at = now() where key_hash = decode(${hashKey(editor)}, 'hex')`;
  await expect.poll(() => [revoked.ended, socket.readyState], { timeout: 30_000 }).toEqual([true, WebSocket.CLOSED]);
  expect(valid.ended).toBe(false);
  expect((await fetch(url + path, { headers: { "x-api-key": editor } })).status).toBe(401);
});
