import { setTimeout as sleep } from "node:timers/promises";

import type { DatabaseAddress } from "../../base/db/connect.ts";
import { Listener } from "../../base/db/listener.ts";
import type { Log } from "../../base/log.ts";
import type { Started } from "../../base/started.ts";
import type { AgentDeps } from "../deps.ts";
import { ServerLease } from "../servers/server-lease.ts";
import type { AgentSettings } from "../settings.ts";
import type { AgentStores } from "./open-stores.ts";

/** Time that releasing the lease may delay the stop. */
const RELEASE_MS = 3000;

type Parts = Pick<AgentDeps, "queue" | "hosts" | "follower" | "protocol">;

interface JoinOptions {
  database: DatabaseAddress;
  stores: AgentStores;
  settings: AgentSettings;
  log: Log;
  serverId: string;
  internalUrl: string;
  /** Parts that react to other servers, built later. */
  parts: () => Parts;
}

/** Builds this server's links to the others on its database: the listener for notifications, and the lease. */
export function joinServers(options: JoinOptions, started: Started): { listener: Listener; lease: ServerLease } {
  const { stores, settings, log, serverId, internalUrl, parts } = options;
  const listener = createListener(options);
  started.add(() => listener.stop());
  const lease = new ServerLease({
    sql: stores.sql,
    leaseSql: stores.leaseSql,
    log,
    serverId,
    leaseMs: settings.leaseMs,
    maxFailures: settings.maxFailures,
    internalUrl,
    instanceId: settings.instanceId,
    slots: settings.jobs,
    graphs: () => parts().hosts.runnable,
    onLost: () => parts().queue.loseAll(),
    onReleased: () => parts().queue.wake(),
    onBeat: (running, sentAt) => parts().queue.onBeat(running, sentAt),
    onOlderServers: (present) => parts().hosts.storeListsWhole(present),
    onLostTrace: (trace) => parts().hosts.closeTrace(trace),
  });
  started.add(() =>
    Promise.race([lease.stop(), sleep(RELEASE_MS)]).catch((error: unknown) =>
      log.warn({ err: error }, "could not release the lease; it will expire"),
    ),
  );
  return { listener, lease };
}

/**
 * Listens for new work, cancellations and ends, announced by other servers and by this one. Polls and heartbeats find
 * what a notification misses.
 */
const createListener = ({ database, log, parts }: JoinOptions): Listener =>
  new Listener(database, {
    log,
    channels: {
      heddle_queue: () => parts().queue.onAnnounced(),
      heddle_cancel: (runId) => parts().queue.onCancelNotice(runId),
      heddle_done: (runId) => parts().follower.onNotice(runId),
      // ids of runs, and of threads with new events of protocol v2, or that were deleted
      heddle_frames: (ids) => {
        for (const id of ids.split(",")) {
          parts().follower.onNotice(id);
          parts().protocol.onNotice(id);
        }
      },
      heddle_want: (runIds) => parts().queue.frames.onWanted(runIds.split(",")),
    },
    onGap: () => {
      parts().queue.wake();
      parts().protocol.onGap();
    },
  });
