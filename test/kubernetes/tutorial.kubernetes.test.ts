/**
 * Follows the tutorials that need a cluster, with kubectl and helm, in one whose nodes have the image of the platform:
 * HEDDLE_TEST_IMAGE names an archive of Dockerfile's image, tagged `localhost/heddle:VERSION`.
 */
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";

import { describe, expect, test } from "vitest";

import { findHelm } from "../../scripts/build/chart.ts";
import { follow, readNeeds } from "../../scripts/check/tutorials.ts";
import { atEnd } from "../../server/test/at-end.ts";
import { dropDeploymentDatabases } from "../../server/test/control-plane.ts";
import { testDatabase } from "../../server/test/db.ts";
import { BRIDGE_ADDRESS, openToContainers } from "../../server/test/podman.ts";
import { missingPrograms } from "./binaries.ts";
import { PAUSE_IMAGE, startCluster } from "./cluster.ts";
import { proxyService } from "./service-proxy.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PORT_FORWARD = join(import.meta.dirname, "port-forward.mjs");
const TUTORIALS = join(ROOT, "docs/tutorials");
const files = readdirSync(TUTORIALS)
  .map((name) => join(TUTORIALS, name))
  .filter((file) => readNeeds(file) === "cluster");

const archive = process.env["HEDDLE_TEST_IMAGE"];
const helm = findHelm();
const kubectl = spawnSync("which", ["kubectl"], { encoding: "utf8" }).stdout.trim();
const canRun = archive !== undefined && helm !== undefined && kubectl !== "" && missingPrograms().length === 0;

const CONTROL = { namespace: "heddle", name: "heddle-control", port: 2026 };

describe.skipIf(!canRun)("a tutorial that needs a cluster", { timeout: 1_800_000 }, () => {
  test.each(files.map((file) => [basename(file), file]))("%s", async (_name, file) => {
    const db = await testDatabase();
    const way = await openToContainers(Number(new URL(db.uri).port));
    atEnd(() => way.close());
    const database = new URL(db.uri);
    [database.hostname, database.port] = [BRIDGE_ADDRESS, String(way.port)];
    const hosts = { [`${CONTROL.name}.${CONTROL.namespace}.svc`]: BRIDGE_ADDRESS };
    const cluster = await startCluster({ nodes: ["a", "b"], hosts });
    atEnd(async () => {
      await cluster.stop();
      await dropDeploymentDatabases(db);
    });
    await cluster.podman.run("load", "--input", archive!);
    // the bridge exists while it has a container
    await cluster.podman.run("run", "--detach", PAUSE_IMAGE);
    const pods = `/api/v1/namespaces/${CONTROL.namespace}/pods?labelSelector=app.kubernetes.io%2Fcomponent%3Dcontrol`;
    const proxy = await proxyService(cluster.client, pods, CONTROL.port);
    atEnd(() => proxy.close());

    const directory = mkdtempSync(join(tmpdir(), "heddle-programs-"));
    atEnd(() => rmSync(directory, { recursive: true, force: true }));
    const script = (name: string, ...lines: string[]) => {
      const path = join(directory, name);
      writeFileSync(path, ["#!/bin/sh", ...lines, ""].join("\n"), { mode: 0o755 });
      return path;
    };
    const podman = cluster.podman.asProgram();
    const followed = follow(file, {
      heddle: join(ROOT, "cli/bin/heddle.js"),
      hasFixedPorts: true,
      // a rollout on a busy machine
      blockMs: 600_000,
      variables: { KUBECONFIG: cluster.kubeconfig, CLONE: ROOT, REGISTRY: "localhost", POSTGRES: database.href },
      programs: {
        helm: helm!,
        kubectl: script(
          "kubectl",
          `case " $* " in *" port-forward "*) exec '${process.execPath}' '${PORT_FORWARD}' '${kubectl}' "$@";; esac`,
          `exec '${kubectl}' "$@"`,
        ),
        // images that are built are those of the nodes
        docker: script("docker", `shift; exec '${podman}' build --network host "$@"`),
      },
    });
    await expect(followed).resolves.toBeUndefined();
  });
});
