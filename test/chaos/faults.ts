import { setTimeout as sleep } from "node:timers/promises";

import type { FaultProxy, LinkFilter } from "../faults/fault-proxy.ts";
import type { Fleet } from "./fleet.ts";
import type { FaultKind, PlannedFault } from "./plan.ts";

/** An active fault: its target, and a function that ends it. */
export interface ActiveFault {
  target: string;
  detail?: string;
  pids?: number[];
  heal?: () => void | Promise<void>;
}

type Apply = (fleet: Fleet, fault: PlannedFault) => ActiveFault | undefined | Promise<ActiveFault | undefined>;

const DELAY_MS = 2000;

/** Starts a fault of each kind; returns undefined where the fault is impossible at the moment. */
export const APPLY: Record<FaultKind, Apply> = {
  "kill-server": kill("server"),
  "kill-hosts": kill("hosts"),
  "kill-both": kill("both"),
  "freeze-server": freeze("server"),
  "freeze-hosts": freeze("hosts"),
  "freeze-both": freeze("both"),
  "kill-postgres": async ({ postgres }) => {
    const pids = await postgres.kill();
    return pids.length === 0 ? undefined : { target: "postgres", pids, heal: () => postgres.start() };
  },
  "freeze-postgres": ({ postgres }) => {
    const pids = postgres.freeze();
    return pids.length === 0 ? undefined : { target: "postgres", pids, heal: () => postgres.thaw() };
  },
  "kill-redis": async ({ redis }) => {
    const pids = await redis.kill();
    return pids.length === 0 ? undefined : { target: "redis", pids, heal: () => redis.start() };
  },
  "freeze-redis": ({ redis }) => ({ target: "redis", pids: redis.freeze(), heal: () => redis.thaw() }),
  "postgres-disk-full": ({ disks, postgres }) => {
    const disk = disks.postgres;
    if (!disk) return undefined;
    disk.fill();
    return { target: "postgres", heal: () => (disk.free(), postgres.start()) };
  },
  "disk-full": ({ disks }, { target }) => {
    const disk = disks.servers[target];
    if (!disk) return undefined;
    disk.fill();
    return { target, heal: () => disk.free() };
  },
  "clock-ahead": clock(({ skew }) => skew),
  "clock-behind": clock(({ skew }) => -skew),
  "clock-steps": (fleet, { target, skew, ms }) => {
    const server = fleet.servers[target];
    const steps = [skew, -skew, skew * 10, 0];
    let step = 0;
    const next = () => server.setClock(steps[step++ % steps.length]!);
    next();
    const timer = setInterval(next, Math.max(ms / steps.length, 500));
    return { target, detail: `±${skew} s`, heal: () => (clearInterval(timer), server.setClock(0)) };
  },
  "postgres-cut": onPostgres((proxy, _, filter) => proxy.cut(filter)),
  "postgres-lose-answer": onPostgres((proxy, { count }, filter) => proxy.loseAnswers(count, filter)),
  "postgres-swallow": onPostgres((proxy, { count, ms }, filter) => proxy.swallow(count, ms, filter)),
  "postgres-half-open": onPostgres((proxy, _, filter) => proxy.halfOpen(filter)),
  "postgres-delay": onPostgres((proxy, _, filter) => proxy.delay(DELAY_MS, filter)),
  "postgres-refuse": onPostgres((proxy, _, filter) => proxy.refuse(filter)),
  "postgres-drop-notification": onPostgres((proxy, { count }) => proxy.dropNotifications(count)),
  "redis-cut": onRedis((proxy) => proxy.cut()),
  "redis-lose-answer": onRedis((proxy, { count }) => proxy.loseAnswers(count)),
  "redis-half-open": onRedis((proxy) => proxy.halfOpen()),
  "redis-delay": onRedis((proxy) => proxy.delay(DELAY_MS)),
  "client-cut": onClients((proxy) => proxy.cut()),
  "client-lose-answer": onClients((proxy, { count }) => proxy.loseAnswers(count)),
  "client-swallow": onClients((proxy, { count, ms }) => proxy.swallow(count, ms)),
  "client-half-open": onClients((proxy) => proxy.halfOpen()),
  "client-delay": onClients((proxy) => proxy.delay(DELAY_MS)),
};

function kill(which: "server" | "hosts" | "both"): Apply {
  return async (fleet, { target, ms }) => {
    const server = fleet.servers[target];
    const pids = await server.kill(which);
    if (pids.length === 0) return undefined;
    // restarted at once; the fault is over when the server is ready
    return { target, pids, heal: () => sleep(which === "hosts" ? 0 : Math.min(ms, 500)).then(() => server.start()) };
  };
}

function freeze(which: "server" | "hosts" | "both"): Apply {
  return (fleet, { target }) => {
    const server = fleet.servers[target];
    const pids = server.freeze(which);
    return pids.length === 0 ? undefined : { target, pids, heal: () => server.thaw(pids) };
  };
}

/** Sets a clock skew that lasts until the next fault of this server's clock, also through calm periods. */
function clock(offset: (fault: PlannedFault) => number): Apply {
  return (fleet, fault) => {
    fleet.servers[fault.target].setClock(offset(fault));
    return { target: fault.target, detail: `${offset(fault)} s` };
  };
}

/** Filters for the connection names of a server and its hosts in Postgres. */
const SIDES: Record<PlannedFault["side"], LinkFilter> = {
  server: (name) => !name.includes("checkpoint"),
  hosts: (name) => name.includes("checkpoint"),
  all: () => true,
};

type Hit = (proxy: FaultProxy, fault: PlannedFault, filter: LinkFilter) => void | (() => void);

function onPostgres(hit: Hit): Apply {
  return ({ servers }, fault) => {
    const { target, side } = fault;
    return active(
      `${target} ${side === "all" ? "" : `(${side}) `}to postgres`,
      hit(servers[target].postgresProxy, fault, SIDES[side]),
    );
  };
}

function onRedis(hit: Hit): Apply {
  return ({ servers }, fault) =>
    active(`${fault.target} to redis`, hit(servers[fault.target].redisProxy, fault, SIDES.all));
}

function onClients(hit: Hit): Apply {
  return ({ clientProxies }, fault) => {
    const name = fault.target === "api" ? "api" : "worker1";
    return active(`clients to ${name}`, hit(clientProxies[name], fault, SIDES.all));
  };
}

const active = (target: string, heal: void | (() => void)): ActiveFault => ({ target, ...(heal && { heal }) });
