/** Commands and limits of git, and attacks by hosts. */
import { execFileSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, afterEach, expect, test } from "vitest";

import { testGitServer } from "../../../test/git-server.ts";
import { commandsWith } from "../../../test/processes-of.ts";
import { createOutbound } from "../../base/outbound/outbound.ts";
import { readPolicy } from "../../base/outbound/policy.ts";
import { BuildError } from "../builds/build-error.ts";
import type { BuildLog } from "../logs/log-writer.ts";
import { GitSource } from "./git-source.ts";

const host = await testGitServer();
const directory = mkdtempSync(join(tmpdir(), "heddle-git-source-"));
const outbounds: { close(): Promise<void> }[] = [];
const servers: Server[] = [];
afterEach(() => {
  host.isOld = false;
  for (const server of servers.splice(0)) server.close();
});
afterAll(async () => {
  await host.close();
  for (const outbound of outbounds) await outbound.close();
  rmSync(directory, { recursive: true, force: true });
});

const DEFAULTS = {
  gitProgram: "git",
  gitSeconds: 30,
  gitMaxMb: 100,
  gitLocal: "",
  gitPollSeconds: 0,
  unpackMaxMb: 100,
};

function source(settings: Partial<typeof DEFAULTS> = {}, names: Record<string, string> = {}): GitSource {
  const outbound = createOutbound(readPolicy("git.inside", true), {
    resolve: (name) =>
      names[name] ? Promise.resolve([{ address: names[name], family: 4 }]) : Promise.reject(new Error("ENOTFOUND")),
  });
  outbounds.push(outbound);
  return new GitSource({ settings: { ...DEFAULTS, ...settings }, outbound, directory });
}

const never = new AbortController().signal;
const log: BuildLog & { lines: string[] } = {
  lines: [],
  write: (line) => void log.lines.push(line),
  flush: () => Promise.resolve(),
};
const at = (repoUrl: string) => ({ repoUrl, credentials: null });

/** Fetches a commit and returns the names in its archive. */
async function fetchNames(from: GitSource, repoUrl: string, ref: string, sha: string): Promise<string[]> {
  let names: string[] = [];
  const params = { id: crypto.randomUUID(), remote: at(repoUrl), ref, sha, log, signal: never };
  await from.withArchive(params, async (file) => {
    names = execFileSync("tar", ["-tzf", file], { encoding: "utf8" }).trim().split("\n");
  });
  return names;
}

test("fetches a commit by its hash alone, while its branch advances", async () => {
  const repository = host.create("moving");
  const first = repository.commit({ "a.txt": "1" });
  repository.commit({ "b.txt": "2" });
  expect(await fetchNames(source(), repository.url, "main", first)).toEqual(["a.txt"]);
  // servers of the old protocol serve only the branch's own commit, with its history
  host.isOld = true;
  expect(await fetchNames(source(), repository.url, "main", first)).toEqual(["a.txt"]);
  expect(readdirSync(join(directory, "git"))).toEqual([]);
});

test("connects only to checked addresses, and uses http only within private networks", async () => {
  const repository = host.create("named");
  const sha = repository.commit({ "a.txt": "1" });
  const url = repository.url.replace("127.0.0.1", "git.inside");
  expect(await source({}, { "git.inside": "127.0.0.1" }).resolve(at(url), "main", never)).toBe(sha);
  const metadata = source({}, { "git.inside": "169.254.169.254" }).resolve(at(url), "main", never);
  await expect(metadata).rejects.toThrow(/leads to a metadata service/);
  const open = source({}, { "git.example": "192.88.99.7" }).resolve(at("http://git.example/a"), "main", never);
  await expect(open).rejects.toThrow(/must be an https:\/\/ URL|leads to/);
});

test("a silent or endless host is abandoned in time, with no process left", async () => {
  for (const answer of ["", "HTTP/1.1 200 OK\r\nContent-Type: application/x-git-upload-pack-advertisement\r\n\r\n"]) {
    const server = createServer((socket) => {
      socket.on("error", () => {});
      if (answer === "") return;
      socket.write(answer);
      const pour = () => {
        while (socket.writable && socket.write("001e# service=git-upload-pack\n0000".repeat(100)));
      };
      socket.on("drain", pour);
      pour();
    });
    servers.push(server);
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    const { port } = server.address() as { port: number };
    const url = `http://127.0.0.1:${port}/endless.git`;
    await expect(source({ gitSeconds: 2 }).resolve(at(url), "main", never)).rejects.toThrow();
    expect(commandsWith(url)).toEqual([]);
  }
});

test("an abort ends git at once", async () => {
  const server = createServer(() => {});
  servers.push(server);
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as { port: number }).port}/silent.git`;
  const stop = new AbortController();
  const asking = source().resolve(at(url), "main", stop.signal);
  setTimeout(() => stop.abort(new Error("enough")), 700);
  await expect(asking).rejects.toThrow("enough");
  expect(commandsWith(url)).toEqual([]);
});

test("rejects a repository that is too large, compressed or unpacked", async () => {
  const large = host.create("large");
  const sha = large.commit({ "random.bin": randomBytes(1_000_000).toString("latin1") });
  await expect(fetchNames(source({ gitMaxMb: 1 }), large.url, "main", sha)).rejects.toThrow("larger than 1 MiB");
  const bomb = host.create("bomb");
  const zeros = bomb.commit({ zeros: "0".repeat(20_000_000) });
  const small = source({ gitMaxMb: 1, unpackMaxMb: 1 });
  await expect(fetchNames(small, bomb.url, "main", zeros)).rejects.toThrow(
    "The repository's files are larger than 1 MiB",
  );
  expect(readdirSync(join(directory, "git"))).toEqual([]);
}, 60_000);

test("a missing or old git is reported with the setting to change", async () => {
  const repository = host.create("any");
  repository.commit({ a: "" });
  const none = source({ gitProgram: "no-such-git" }).resolve(at(repository.url), "main", never);
  await expect(none).rejects.toThrow(/cannot find git \(no-such-git\).*HEDDLE_GIT/);
  await expect(none).rejects.toBeInstanceOf(BuildError);
  const old = source({ gitProgram: "echo" }).resolve(at(repository.url), "main", never);
  await expect(old).rejects.toThrow("too old");
});

test("deploys only allowed local repositories, whatever a repository's configuration requests", async () => {
  const repository = host.create("local");
  const sha = repository.commit({ "a.txt": "1" });
  const secret = host.create("elsewhere");
  secret.commit({ "secret.txt": "1" });
  const root = join(directory, "allowed");
  mkdirSync(root);
  symlinkSync(repository.path, join(root, "way-out.git"));
  execFileSync("cp", ["-r", repository.path, join(root, "own.git")]);
  const mark = join(directory, "was-run");
  execFileSync("git", [
    "config",
    "--file",
    join(root, "own.git/config"),
    "uploadpack.packObjectsHook",
    `touch ${mark}`,
  ]);
  const own = source({ gitLocal: root });
  expect(await own.resolve(at(join(root, "own.git")), "main", never)).toBe(sha);
  expect(await fetchNames(own, `file://${join(root, "own.git")}`, "main", sha)).toEqual(["a.txt"]);
  expect(existsSync(mark)).toBe(false);
  await expect(own.resolve(at(join(root, "way-out.git")), "main", never)).rejects.toThrow(
    "is outside the directories in HEDDLE_GIT_LOCAL",
  );
  await expect(own.resolve(at(join(root, "nothing.git")), "main", never)).rejects.toThrow("There is no repository");
  expect(() => own.check(secret.path)).toThrow("is outside the directories in HEDDLE_GIT_LOCAL");
  expect(() => own.check(join(root, "../elsewhere.git"))).toThrow("is outside the directories in HEDDLE_GIT_LOCAL");
  expect(() => source().check(root)).toThrow("HEDDLE_GIT_LOCAL");
});
