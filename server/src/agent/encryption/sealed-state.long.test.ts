/** Encryption of stored state with a real server, database and graph host. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "vitest";

import { testAgentServer } from "../../../test/agent-server.ts";
import { atEnd } from "../../../test/at-end.ts";
import { describeSealedState, expectSecret, plantSecret, SECRET } from "../../../test/sealed-state.ts";
import { createBackup } from "../../admin/backup/create-backup.ts";
import { restoreBackup } from "../../admin/backup/restore-backup.ts";
import { connect } from "../../base/db/connect.ts";
import { EmbeddedPostgres } from "../../base/db/embedded-postgres.ts";

describeSealedState("JavaScript graphs", { plain: "langgraph.json", custom: "custom.json" }, {});

const PROJECT = fileURLToPath(new URL("../../../test/fixtures/sealed-project/langgraph.json", import.meta.url));

/** Works with a server on the database of a data directory, which then stops. */
async function withServer<T>(dataDir: string, work: (server: Pick<Server, "call">) => Promise<T>): Promise<T> {
  const postgres = new EmbeddedPostgres({ dataDir });
  const { uri, socket } = await postgres.start();
  const sql = connect({ uri, socket }, { max: 1 });
  const db = { uri, options: socket === null ? {} : { host: socket }, sql, drop: async () => {} };
  const server = await testAgentServer({ LANGGRAPH_AES_KEY: "0123456789abcdef" }, PROJECT, { db });
  try {
    return await work(server);
  } finally {
    await server.stop();
    await sql.end({ timeout: 1 });
    await postgres.stop();
  }
}
type Server = Awaited<ReturnType<typeof testAgentServer>>;

test("a backup shows nothing, and is restored with the same key", { timeout: 180_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), "heddle-sealed-"));
  atEnd(() => rmSync(folder, { recursive: true, force: true }));
  const [source, target, archive] = [join(folder, "source"), join(folder, "target"), join(folder, "1.tar")];
  const id = await withServer(source, plantSecret);
  const options = { withoutKeys: true, passphrase: undefined, onProgress: () => {} };
  await createBackup({ ...options, location: { dataDir: source, env: {} }, to: archive });
  expect(readFileSync(archive).includes(SECRET)).toBe(false);
  await restoreBackup({ ...options, location: { dataDir: target, env: {} }, from: archive });
  await withServer(target, (server) => expectSecret(server, id));
});
