import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { expect, test } from "vitest";

import { atEnd } from "../../../../test/at-end.ts";
import { openAccess } from "./kubeconfig.ts";

function testDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), "heddle-kubeconfig-"));
  atEnd(() => rmSync(directory, { recursive: true }));
  return directory;
}

/** Writes a kubeconfig file of a user. Returns its path. */
function writeConfig(directory: string, user: object): string {
  const file = join(directory, "config");
  const config = {
    "current-context": "here",
    clusters: [{ name: "c", cluster: { server: "https://cluster.example:6443", "certificate-authority": "ca.crt" } }],
    contexts: [{ name: "here", context: { cluster: "c", user: "u", namespace: "agents" } }],
    users: [{ name: "u", user }],
  };
  writeFileSync(join(directory, "ca.crt"), "the authority");
  writeFileSync(file, JSON.stringify(config));
  return file;
}

/** Writes a program that counts its calls and then runs the script. */
function writeProgram(directory: string, name: string, script: string): () => number {
  const calls = join(directory, `${name}.calls`);
  writeFileSync(calls, "");
  writeFileSync(join(directory, name), `#!/bin/sh\necho >> '${calls}'\n${script}\n`);
  chmodSync(join(directory, name), 0o755);
  return () => readFileSync(calls, "utf8").length;
}

const credential = (status: object) =>
  JSON.stringify({ apiVersion: "client.authentication.k8s.io/v1", kind: "ExecCredential", status });

test("runs the command of a kubeconfig file with its variables, and again only before its credentials expire", async () => {
  const directory = testDirectory();
  const lasting = new Date(Date.now() + 3_600_000).toISOString();
  const status = { token: "TOKEN", clientCertificateData: "cert", clientKeyData: "key", expirationTimestamp: lasting };
  const calls = writeProgram(directory, "login", `echo '${credential(status)}' | sed "s/TOKEN/$1-$REGION/"`);
  const exec = { apiVersion: "client.authentication.k8s.io/v1", command: "./login", args: ["first"] };
  const file = writeConfig(directory, { exec: { ...exec, env: [{ name: "REGION", value: "north" }] } });
  const access = await openAccess(file);
  expect(access).toMatchObject({ namespace: "agents", ca: Buffer.from("the authority") });
  const expected = { token: "first-north", cert: Buffer.from("cert"), key: Buffer.from("key") };
  expect([await access.credentials(), await access.credentials()]).toEqual([expected, expected]);
  expect(calls()).toBe(1);

  const soon = new Date(Date.now() + 30_000).toISOString();
  const again = writeProgram(directory, "short", `echo '${credential({ token: "t", expirationTimestamp: soon })}'`);
  const short = await openAccess(writeConfig(directory, { exec: { ...exec, command: "./short" } }));
  await short.credentials();
  await short.credentials();
  expect(again()).toBe(2);
});

test("passes what the command is asked for, and takes a command without an expiry once", async () => {
  const directory = testDirectory();
  const script = `echo "$KUBERNETES_EXEC_INFO" > '${directory}/info'\necho '${credential({ token: "t" })}'`;
  const calls = writeProgram(directory, "login", script);
  const exec = { apiVersion: "client.authentication.k8s.io/v1beta1", command: join(directory, "login") };
  const access = await openAccess(writeConfig(directory, { exec }));
  await access.credentials();
  await access.credentials();
  expect(calls()).toBe(1);
  expect(JSON.parse(readFileSync(join(directory, "info"), "utf8"))).toEqual({
    apiVersion: "client.authentication.k8s.io/v1beta1",
    kind: "ExecCredential",
    spec: { interactive: false },
  });
});

test("a command that fails is named with its message, without its arguments and output", async () => {
  const directory = testDirectory();
  const failure = async (command: string) => {
    const exec = { apiVersion: "client.authentication.k8s.io/v1", command, args: ["--password=hidden"] };
    const access = await openAccess(writeConfig(directory, { exec }));
    const message = await access.credentials().then(String, (error: Error) => error.message);
    expect(message).not.toContain("hidden");
    return message;
  };
  writeProgram(directory, "fails", "echo 'log in first' >&2; exit 3");
  expect(await failure("./fails")).toBe("The command ./fails of the kubeconfig file failed (3): log in first");
  expect(await failure("heddle-no-such-program")).toContain("failed (ENOENT)");
  writeProgram(directory, "odd", "echo 'token hidden'");
  expect(await failure("./odd")).toContain("did not print an ExecCredential");
});

test("reads a token file of a kubeconfig file again at each use", async () => {
  const directory = testDirectory();
  writeFileSync(join(directory, "token"), "first\n");
  const access = await openAccess(writeConfig(directory, { tokenFile: "token" }));
  expect((await access.credentials()).token).toBe("first");
  writeFileSync(join(directory, "token"), "second\n");
  expect((await access.credentials()).token).toBe("second");
});

test("in a pod, uses its service account, whose token the kubelet replaces", async () => {
  const directory = testDirectory();
  const environment = { KUBERNETES_SERVICE_HOST: "fd00::1", KUBERNETES_SERVICE_PORT: "6443" };
  const pod = { directory, environment };
  await expect(openAccess(undefined, pod)).rejects.toThrow(/Set HEDDLE_KUBECONFIG/);
  for (const [name, text] of Object.entries({ token: "first\n", namespace: "agents\n", "ca.crt": "authority" })) {
    writeFileSync(join(directory, name), text);
  }
  await expect(openAccess(undefined, { directory, environment: {} })).rejects.toThrow(/does not run in a Kubernetes/);
  const access = await openAccess(undefined, pod);
  expect(access.server.href).toBe("https://[fd00::1]:6443/");
  expect(access).toMatchObject({ namespace: "agents", ca: Buffer.from("authority"), insecure: false });
  expect(await access.credentials()).toEqual({ token: "first", cert: null, key: null });
  writeFileSync(join(directory, "token"), "second\n");
  expect((await access.credentials()).token).toBe("second");
  const plain = { directory, environment: { KUBERNETES_SERVICE_HOST: "10.0.0.1" } };
  expect((await openAccess(undefined, plain)).server.href).toBe("https://10.0.0.1/");
});

test("knows the namespace in which it runs itself, also with a kubeconfig file of its own cluster", async () => {
  const directory = testDirectory();
  const pod = { directory, environment: { KUBERNETES_SERVICE_HOST: "10.0.0.1" } };
  for (const [name, text] of Object.entries({ token: "t", namespace: "platform\n", "ca.crt": "authority\n" })) {
    writeFileSync(join(directory, name), text);
  }
  const own = async (server: string, ca: string) => {
    const path = join(directory, "config");
    const cluster = { server, "certificate-authority-data": Buffer.from(ca).toString("base64") };
    const config = {
      "current-context": "c",
      clusters: [{ name: "c", cluster }],
      contexts: [{ name: "c", context: { cluster: "c", user: "u", namespace: "agents" } }],
      users: [{ name: "u", user: { token: "t" } }],
    };
    writeFileSync(path, JSON.stringify(config));
    return (await openAccess(path, pod)).ownNamespace;
  };
  expect((await openAccess(undefined, pod)).ownNamespace).toBe("platform");
  expect(await own("https://10.0.0.1:6443", "another")).toBe("platform");
  expect(await own("https://kubernetes.default.svc", "another")).toBe("platform");
  expect(await own("https://cluster.example", "authority")).toBe("platform");
  expect(await own("https://cluster.example", "another")).toBeNull();
});
