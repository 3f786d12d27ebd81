import { execFileSync, spawn } from "node:child_process";
import { mkdtempSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

/**
 * Git over HTTP by git's own http-backend, as git hosts run it: repositories at `<url>/<name>.git`; those whose name
 * begins with `private` require the token.
 */
export interface GitServer {
  url: string;
  token: string;
  /** Handles requests in place of git, when it is set. */
  instead: ((request: IncomingMessage, response: ServerResponse) => boolean) | undefined;
  /** Whether it speaks only the protocol from before 2018, in which commits cannot be requested by hash. */
  isOld: boolean;
  /** `authorization` headers of the requests so far. */
  seen: (string | undefined)[];
  create(name: string): TestRepository;
  close(): Promise<void>;
}

export interface TestRepository {
  url: string;
  /** Path of the bare repository on this machine. */
  path: string;
  /**
   * Writes files on a branch and pushes them. A null file is removed, `{ link }` is a symbolic link. @returns the
   * commit
   */
  commit(files: Record<string, string | null | { link: string }>, branch?: string): string;
  git(...args: string[]): string;
}

const BACKEND = join(execFileSync("git", ["--exec-path"], { encoding: "utf8" }).trim(), "git-http-backend");

export async function testGitServer(): Promise<GitServer> {
  const root = mkdtempSync(join(tmpdir(), "heddle-git-"));
  const token = "a-token-of-the-test";
  const server = createServer((request, response) => {
    made.seen.push(request.headers.authorization);
    if (made.instead?.(request, response)) return;
    const [path = "", query = ""] = (request.url ?? "").split("?");
    const wanted = `Basic ${Buffer.from(`x-access-token:${token}`).toString("base64")}`;
    if (path.startsWith("/private") && request.headers.authorization !== wanted) {
      return void response.writeHead(401, { "www-authenticate": 'Basic realm="git"' }).end("no");
    }
    if (made.isOld) delete request.headers["git-protocol"];
    cgi(root, path, query, request, response);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const made: GitServer = {
    url,
    token,
    instead: undefined,
    isOld: false,
    seen: [],
    create: (name) => createRepository(root, url, name),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(root, { recursive: true, force: true });
    },
  };
  return made;
}

/** Runs a CGI script (RFC 3875), as far as git needs it. */
function cgi(root: string, path: string, query: string, request: IncomingMessage, response: ServerResponse): void {
  const child = spawn(BACKEND, [], {
    env: {
      PATH: process.env["PATH"],
      GIT_PROJECT_ROOT: root,
      GIT_HTTP_EXPORT_ALL: "1",
      GIT_CONFIG_GLOBAL: "/dev/null",
      REQUEST_METHOD: request.method,
      PATH_INFO: path,
      QUERY_STRING: query,
      CONTENT_TYPE: request.headers["content-type"] ?? "",
      HTTP_CONTENT_ENCODING: String(request.headers["content-encoding"] ?? ""),
      GIT_PROTOCOL: String(request.headers["git-protocol"] ?? ""),
    },
    stdio: ["pipe", "pipe", "ignore"],
  });
  request.pipe(child.stdin);
  child.stdin.on("error", () => {});
  response.on("close", () => child.kill());
  let head = Buffer.alloc(0);
  const onData = (chunk: Buffer) => {
    head = Buffer.concat([head, chunk]);
    const end = head.indexOf("\r\n\r\n");
    if (end === -1) return;
    child.stdout.off("data", onData);
    const lines = head.subarray(0, end).toString().split("\r\n");
    const headers = lines.map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]);
    const status = Number(headers.find(([name]) => name === "Status")?.[1]?.slice(0, 3) ?? 200);
    response.writeHead(status, Object.fromEntries(headers.filter(([name]) => name !== "Status")));
    response.write(head.subarray(end + 4));
    child.stdout.pipe(response);
  };
  child.stdout.on("data", onData);
}

const AUTHOR = ["-c", "user.name=a test", "-c", "user.email=test@a.example", "-c", "commit.gpgsign=false"];

function createRepository(root: string, url: string, name: string): TestRepository {
  const path = join(root, `${name}.git`);
  const work = join(root, `${name}.work`);
  const run = (directory: string, args: string[]) =>
    execFileSync("git", [...AUTHOR, ...args], {
      cwd: directory,
      encoding: "utf8",
      stdio: ["ignore", "pipe", "pipe"],
      env: { PATH: process.env["PATH"], HOME: root, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" },
    }).trim();
  mkdirSync(work, { recursive: true });
  run(root, ["init", "--quiet", "--bare", "--initial-branch=main", path]);
  run(work, ["init", "--quiet", "--initial-branch=main"]);
  return {
    url: `${url}/${name}.git`,
    path,
    git: (...args) => run(work, args),
    commit(files, branch = "main") {
      const known = run(work, ["branch", "--list", branch]) !== "";
      const isNew = run(work, ["branch", "--list"]) === "";
      if (!isNew) run(work, known ? ["checkout", "--quiet", branch] : ["checkout", "--quiet", "-b", branch]);
      for (const [file, text] of Object.entries(files)) {
        const place = join(work, file);
        mkdirSync(dirname(place), { recursive: true });
        rmSync(place, { force: true });
        if (typeof text === "string") writeFileSync(place, text);
        else if (text !== null) execFileSync("ln", ["-s", text.link, place]);
      }
      run(work, ["add", "--all"]);
      run(work, ["commit", "--quiet", "--allow-empty", "--message", "a change"]);
      run(work, ["push", "--quiet", "--force", path, branch]);
      return run(work, ["rev-parse", "HEAD"]);
    },
  };
}
