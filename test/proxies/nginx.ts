import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";

const PRODUCTION = fileURLToPath(new URL("../../docs/production.md", import.meta.url));

/** Returns the production page's nginx code blocks verbatim. */
export function documentedConfigurations(): string[] {
  return [...readFileSync(PRODUCTION, "utf8").matchAll(/^```nginx\n([\s\S]*?)^```$/gm)].map(([, text]) => text!);
}

/** Returns the variables that the page sets beside the proxy. */
export function documentedEnvironment(): Record<string, string> {
  const block = /^```\n((?:HEDDLE_\w+=[^\n]*\n)+)```$/m.exec(readFileSync(PRODUCTION, "utf8"));
  if (!block) throw new Error(`${PRODUCTION} has no block of variables`);
  const lines = block[1]!.trim().split("\n");
  return Object.fromEntries(lines.map((line) => line.split("=") as [string, string]));
}

export interface Site {
  name: string;
  port: number;
  /** Ports of the site's servers: with several, they are the documented `upstream`. */
  upstream: number | number[];
}

/** Starts Debian's nginx with the documented `server` block per site; only names, ports and paths differ. */
export async function startNginx(
  directory: string,
  [text, upstream, passing]: string[],
  sites: Site[],
): Promise<() => Promise<void>> {
  const temporary = join(directory, "temporary");
  mkdirSync(temporary, { recursive: true });
  const [certificate, key] = [join(directory, "site.pem"), join(directory, "site.key")];
  execFileSync(
    "openssl",
    `req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=agents.example -keyout ${key} -out ${certificate}`.split(" "),
    { stdio: "ignore" },
  );
  if (text === undefined || upstream === undefined || passing === undefined) throw new Error("an example is missing");
  const begin = text.indexOf("server {");
  const server = text.slice(begin);
  const replaced = (from: string, to: string, within: string) => {
    if (!within.includes(from)) throw new Error(`the documented configuration has no "${from}"`);
    return within.replaceAll(from, to);
  };
  const upstreams = sites.flatMap(({ name, upstream: ports }) =>
    Array.isArray(ports)
      ? [2024, 2025].reduce(
          (within, from, index) => replaced(`127.0.0.1:${from}`, `127.0.0.1:${ports[index]}`, within),
          replaced("upstream agents", `upstream ${name}`, upstream),
        )
      : [],
  );
  const servers = sites.map(({ name, port, upstream: ports }) =>
    [
      ["listen 443 ssl", `listen 127.0.0.1:${port} ssl`],
      ["server_name agents.example", `server_name ${name}`],
      ["/etc/ssl/agents.example.pem", certificate],
      ["/etc/ssl/agents.example.key", key],
      Array.isArray(ports)
        ? ["    proxy_pass http://127.0.0.1:2026;\n", replaced("http://agents", `http://${name}`, passing)]
        : ["http://127.0.0.1:2026", `http://127.0.0.1:${ports}`],
    ].reduce((within, [from, to]) => replaced(from!, to!, within), server),
  );
  const paths = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"].map(
    (kind) => `${kind}_temp_path ${join(temporary, kind)};`,
  );
  const file = join(directory, "nginx.conf");
  const main = [
    "daemon off;",
    "worker_processes 1;",
    ...(process.getuid?.() === 0 ? ["user root;"] : []),
    `pid ${join(directory, "nginx.pid")};`,
    `error_log ${join(directory, "error.log")};`,
    "events {}",
    `http { access_log off; ${paths.join(" ")}\n${text.slice(0, begin)}\n${upstreams.join("\n")}\n${servers.join("\n")} }`,
  ];
  writeFileSync(file, main.join("\n"));
  const child: ChildProcess = spawn("nginx", ["-c", file, "-p", directory], { stdio: ["ignore", "pipe", "pipe"] });
  let output = "";
  child.stderr!.on("data", (chunk: Buffer) => (output += chunk.toString()));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  for (let left = 200; ; left--) {
    // any response will do
    const answers = await fetch(`http://127.0.0.1:${sites[0]!.port}/`).then(
      () => true,
      () => false,
    );
    if (answers) break;
    if (left === 0 || child.exitCode !== null) throw new Error(`nginx did not start: ${output}`);
    await sleep(50);
  }
  return async () => {
    child.kill("SIGTERM");
    await exited;
  };
}
