// Runs a real Kubernetes cluster on this machine, for tests and experiments:
//
//     node --import tsx scripts/services/kubernetes.ts build                 builds Kubernetes and helm once, with Go
//     node --import tsx scripts/services/kubernetes.ts helm                  builds helm alone
//     node --import tsx scripts/services/kubernetes.ts schemas               writes test/kubernetes/schemas.json
//     node --import tsx scripts/services/kubernetes.ts start [options]       runs a cluster until it is interrupted
//
//       --directory DIR      directory of its state and kubeconfig (admin.kubeconfig); removed at the end
//       --port PORT          port of the API server
//       --node NAME          name of a node; repeatable; default: node-1
//       --image TAR=NAME     imports a root file system, such as that of scripts/build/agent-image.mjs, as an image of an
//                            agent server; repeatable
//
// Commands on its standard input: `add NODE` and `stop NODE` add and stop a node; `freeze`, `thaw`, `kill` and `run`
// act on the API server.
import { spawnSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";

import { buildHelm, buildPrograms, KUBERNETES_VERSION } from "../../test/kubernetes/binaries.ts";
import { startCluster } from "../../test/kubernetes/cluster.ts";
import { readSchemas, SCHEMAS_FILE } from "../../test/kubernetes/schemas.ts";

/** Command of an agent server's image. A project's image has its own. */
const AGENT_COMMAND = 'CMD ["heddle","serve","--role","agent","--config","langgraph.json"]';

const { positionals, values } = parseArgs({
  allowPositionals: true,
  options: {
    directory: { type: "string" },
    port: { type: "string" },
    node: { type: "string", multiple: true },
    image: { type: "string", multiple: true },
  },
});

const action = positionals[0];
const log = (line: string) => console.log(line);
if (action === "build" || action === "helm") {
  buildHelm(findGo(), log);
  if (action === "build") buildPrograms(findGo(), log);
} else if (action === "schemas") await writeSchemas();
else if (action === "start") await start();
else {
  console.error("usage: node --import tsx scripts/services/kubernetes.ts build|helm|schemas|start");
  process.exitCode = 2;
}

function findGo(): string {
  const found = ["go", "/usr/local/go/bin/go", "/usr/lib/go/bin/go"].find(
    (path) => spawnSync(path, ["version"]).status === 0,
  );
  if (found === undefined) throw new Error("Go is not installed. Install Go 1.22 or newer, and put it on PATH.");
  return found;
}

async function writeSchemas(): Promise<void> {
  const cluster = await startCluster({ nodes: [] });
  try {
    const schemas = await readSchemas(cluster.client, KUBERNETES_VERSION);
    writeFileSync(SCHEMAS_FILE, `${JSON.stringify(schemas)}\n`);
  } finally {
    await cluster.stop();
  }
}

async function start(): Promise<void> {
  const { directory, port, node: nodes, image: images = [] } = values;
  const began = Date.now();
  const cluster = await startCluster({
    ...(directory !== undefined && { directory }),
    ...(port !== undefined && { apiPort: Number(port) }),
    ...(nodes && { nodes }),
  });
  for (const image of images) {
    const [archive, name] = image.split("=") as [string, string];
    await cluster.importImage(archive, name, [AGENT_COMMAND]);
  }
  console.log(`Kubernetes ${KUBERNETES_VERSION} is ready after ${((Date.now() - began) / 1000).toFixed(1)} s.`);
  console.log(`API server: ${cluster.client.server}`);
  console.log(`export KUBECONFIG=${cluster.kubeconfig}`);
  const actions: Record<string, (name: string) => unknown> = {
    stop: (name) => cluster.stopNode(name),
    add: (name) => cluster.addNode(name),
    freeze: () => cluster.freezeApiServer(),
    thaw: () => cluster.thawApiServer(),
    kill: () => cluster.killApiServer(),
    run: () => cluster.startApiServer(),
  };
  const input = createInterface({ input: process.stdin });
  input.on("line", (line) => {
    const [word = "", name = ""] = line.trim().split(/\s+/);
    void Promise.resolve(actions[word]?.(name)).then(
      () => console.log(`done: ${line}`),
      (error: unknown) => console.error(error),
    );
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void cluster.stop().then(() => process.exit(0)));
}
