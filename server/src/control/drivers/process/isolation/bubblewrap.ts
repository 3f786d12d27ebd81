import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

import { asUser } from "./system-user.ts";
import type { ConfinedCommand, Isolation } from "./isolation.ts";
import { visiblePaths, type VisiblePaths } from "./visible-paths.ts";

export interface BubblewrapOptions {
  /** Path of bin/heddle.js. */
  launcher: string;
  /** The platform's data directory. Only the paths of the command are visible in it. */
  dataDir: string;
  /** Additional paths of the operator. */
  readable: readonly string[];
  /** Whether this process is root, and deployments have system users. */
  hasUsers: boolean;
}

/** Runs commands in separate namespaces, with Debian's `bwrap`. */
export class Bubblewrap implements Isolation {
  readonly kind = "bubblewrap";
  readonly hasUsers: boolean;
  readonly #options: BubblewrapOptions;
  readonly #visible: VisiblePaths;

  constructor(options: BubblewrapOptions) {
    this.#options = options;
    this.hasUsers = options.hasUsers;
    this.#visible = visiblePaths(options.launcher);
  }

  temporaryPath(): string {
    return "/tmp";
  }

  wrap({ account, command, writable, readable = [], temporary, endsWithParent }: ConfinedCommand): string[] {
    const { dataDir, hasUsers } = this.#options;
    const visible = [...this.#options.readable, ...readable].filter((path) => existsSync(path));
    // root retains the capabilities to become the deployment's user, who then has none
    const privileges = hasUsers
      ? ["CAP_SETUID", "CAP_SETGID", "CAP_SETPCAP"].flatMap((name) => ["--cap-add", name])
      : [];
    return [
      "bwrap",
      ...(hasUsers ? [] : ["--unshare-user"]),
      ...["--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try"],
      ...(endsWithParent ? ["--die-with-parent"] : []),
      ...["--bind", temporary, "/tmp", "--symlink", "/tmp", "/var/tmp"],
      ...["--proc", "/proc", "--dev", "/dev"],
      ...withParents([
        ...this.#visible.paths.map((path) =>
          "from" in path ? readOnly(path.path, path.from) : link(path.path, path.linksTo),
        ),
        readOnly("/etc/passwd", join(account.directory, "passwd")),
        readOnly("/etc/group", join(account.directory, "group")),
        ...[...this.#visible.hidden, dataDir].map((path) => ({ path, args: ["--tmpfs", path] })),
        ...visible.map((path) => readOnly(path)),
        ...writable.map((path) => ({ path, args: ["--bind", path, path] })),
      ]),
      ...[...this.#visible.hidden, dataDir, "/"].flatMap((path) => ["--remount-ro", path]),
      ...["--cap-drop", "ALL", ...privileges, "--chdir", "/", "--"],
      ...(account.uid === null ? command : asUser(account.uid, command)),
    ];
  }
}

interface Mount {
  path: string;
  args: string[];
}

const readOnly = (path: string, from = path): Mount => ({ path, args: ["--ro-bind", from, path] });
const link = (path: string, target: string): Mount => ({ path, args: ["--symlink", target, path] });

/**
 * Orders mounts, with explicit parent directories: those that bwrap creates implicitly are inaccessible to other users.
 */
function withParents(mounts: Mount[]): string[] {
  const created = new Set(["/"]);
  return mounts.flatMap(({ path, args }) => {
    const parents = [];
    for (let above = dirname(path); !created.has(above); above = dirname(above)) {
      created.add(above);
      parents.unshift("--dir", above);
    }
    created.add(path);
    return [...parents, ...args];
  });
}
