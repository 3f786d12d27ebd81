// Process of bench/tenants.ts: repeats slow searches or an ingest flood on every connection from the message that names
// the load until the message "stop"; then sends the number of rejected requests and exits.
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { setPriority } from "node:os";

import { multipartBody } from "./ingest-load.ts";
import { type Credentials, WorkspaceClient } from "./workspace-client.ts";

export interface Load extends Credentials {
  kind: "searches" | "ingest";
  /** Project that is searched. */
  project: string;
}

setPriority(19);
const [load] = (await once(process, "message")) as [Load];
const client = new WorkspaceClient(load);
const words = Array.from({ length: 20 }, (_, n) => `search("no such words ${n}")`).join(", ");
const bodies = load.kind === "ingest" ? Array.from({ length: 200 }, () => multipartBody("bench")) : [];
let sent = 0;
const works = {
  searches: () =>
    client.ask("POST", "/runs/stats", { session: [load.project], filter: `or(${words}, search("${randomUUID()}"))` }),
  ingest: () => client.ingest(bodies[sent++ % bodies.length]),
};
let isOver = false;
process.once("message", () => (isOver = true)).once("disconnect", () => process.exit());
process.send!("started");
const repeat = async () => {
  while (!isOver) await works[load.kind]();
};
await Promise.all(Array.from({ length: load.connections }, repeat));
await client.close();
process.send!(client.rejected, () => process.disconnect());
