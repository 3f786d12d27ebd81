// Tries to read, change and signal things outside the deployment. Answers with the attempts that succeeded.
import {
  accessSync,
  constants,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeSync,
} from "node:fs";
import { connect } from "node:net";
import { basename, dirname, join } from "node:path";

const connects = (path) =>
  new Promise((resolve, reject) => {
    const socket = connect({ path }).once("error", reject);
    socket.once("connect", () => resolve(socket.destroy()));
  });

function lists(directory, name) {
  if (!readdirSync(directory).includes(name)) throw new Error("not there");
}

const pids = () => readdirSync("/proc").filter((name) => /^\d+$/.test(name));

/** Returns the processes whose file in /proc can be read and contains `text`. */
function processesThatShow(file, text) {
  const found = pids().filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, "latin1").includes(text);
    } catch {
      return false;
    }
  });
  if (found.length === 0) throw new Error("none");
}

async function runSql(uri, statement) {
  const { default: postgres } = await import("postgres");
  const sql = postgres(uri, { max: 1, connect_timeout: 5, onnotice: () => {} });
  try {
    await sql.unsafe(statement);
  } finally {
    await sql.end({ timeout: 1 });
  }
}

const attempts = {
  "list the platform's data": (t) => lists(t.dataDir, "postgres"),
  "read the key of the secrets": (t) => readFileSync(t.secretsKeys),
  "read the platform's log": (t) => readFileSync(t.platformLog),
  "read the password of the embedded Postgres": (t) => readFileSync(t.postgresPassword),
  "enter the platform's database with that password": (t) =>
    runSql(
      `postgres://heddle:${readFileSync(t.postgresPassword, "utf8").trim()}@127.0.0.1:${t.postgresPort}/heddle`,
      "select 1",
    ),
  "connect to the socket of the embedded Postgres": (t) => connects(t.postgresSocket),
  "list the builds": (t) => lists(dirname(dirname(t.neighbourSource)), basename(dirname(t.neighbourSource))),
  "list the instances": (t) => lists(dirname(t.neighbourInstance), basename(t.neighbourInstance)),
  "read a neighbour's source": (t) => readFileSync(join(t.neighbourSource, "graph.mjs")),
  "write to a neighbour's source": (t) => openSync(join(t.neighbourSource, "planted.mjs"), "a"),
  "write to a neighbour's package cache": (t) => openSync(join(t.neighbourCache, "planted"), "a"),
  "read a neighbour's log": (t) => readFileSync(join(t.neighbourInstance, "log")),
  "change a neighbour's pid file": (t) => openSync(join(t.neighbourInstance, "pid"), "a"),
  "read a neighbour's environment": (t) => processesThatShow("environ", t.neighbourSecret),
  "read the platform's environment": (t) => processesThatShow("environ", t.platformSecret),
  "see the platform's variables in its own": (t) => {
    if (!Object.values(process.env).includes(t.platformSecret)) throw new Error("none");
  },
  "look through the root of the platform's process": (t) => readdirSync(`/proc/${t.platformPid}/root${t.dataDir}`),
  "list the open files of the platform": (t) => {
    for (const fd of readdirSync(`/proc/${t.platformPid}/fd`)) readlinkSync(`/proc/${t.platformPid}/fd/${fd}`);
  },
  "signal the platform": (t) => process.kill(t.platformPid, 0),
  "signal a neighbour": (t) => process.kill(t.neighbourPid, 0),
  "replace its own pid file": (t) => {
    const [directory] = /\/[^\0]*\/instances\/[^\0/]*/.exec(readFileSync(`/proc/${process.ppid}/cmdline`, "utf8"));
    accessSync(join(directory, "pid"), constants.W_OK);
    symlinkSync(t.secretsKeys, join(directory, `planted-${process.pid}`));
  },
  "write to Heddle's own code": (t) => accessSync(t.launcher, constants.W_OK),
  "change a setting of the kernel": () => accessSync("/proc/sys/kernel/core_pattern", constants.W_OK),
  "hold a capability, or become able to": () => {
    const status = readFileSync("/proc/self/status", "utf8");
    const none = ["CapPrm", "CapEff", "CapBnd"].every((name) => new RegExp(`^${name}:\\t0+$`, "m").test(status));
    if (none && /^NoNewPrivs:\t1$/m.test(status)) throw new Error("none");
  },
  "call the control plane without a key": async (t) => {
    const answer = await fetch(`${t.controlUrl}/v2/deployments`, { signal: AbortSignal.timeout(5_000) });
    if (!answer.ok) throw new Error(String(answer.status));
  },
  "read the platform's tables as its own database user": async () => {
    const uri = new URL(process.env.DATABASE_URI ?? "none:");
    uri.pathname = "/heddle";
    await runSql(uri.href, "select * from api_keys");
  },
};

export async function attack(targets) {
  const succeeded = [];
  for (const [name, attempt] of Object.entries(attempts)) {
    try {
      await attempt(targets);
      succeeded.push(name);
    } catch {
      // rejected, as expected
    }
  }
  return succeeded;
}

/** Returns the permitted operations that failed. */
export function ownWork() {
  const failed = [];
  const tryOut = (name, work) => {
    try {
      work();
    } catch (error) {
      failed.push(`${name}: ${error.message}`);
    }
  };
  tryOut("write in its directory", () => writeSync(openSync("written", "w"), "text"));
  tryOut("write in the temporary directory", () => openSync(join(process.env.TMPDIR ?? "/tmp", "written"), "w"));
  tryOut("write in its home", () => openSync(join(process.env.HOME, "written"), "w"));
  tryOut("read the certificates", () => readdirSync("/etc/ssl/certs"));
  tryOut("resolve names", () => readFileSync("/etc/resolv.conf"));
  return failed;
}
