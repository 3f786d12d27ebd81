import { spawn } from "node:child_process";
import { PERL_LOCKER, PROGRAM_PATH } from "./file-lock.ts";

/**
 * Ends a Postgres without servers. Postgres outlives a killed server, so that the next start adopts it; without a next
 * start it would run forever. A shell script beside it checks every few seconds, and ends Postgres when for
 * `lingerSeconds`, or while a server of another container waits for the directory,
 *
 *  - no file in `users/` is locked (a frozen server's file is locked), and
 *  - Postgres has no client: instances of deployments use it by its URL, without a registration.
 *
 * Time is counted in checks, so a suspended machine does not age anything. No decision rests on a pid alone: the
 * guardian belongs to the Postgres whose postmaster.pid it saw first and ends with it. A guardian that finds another
 * one on the same Postgres waits briefly for it to end, then exits. A shell, because a second Node.js process would
 * take 40 MB.
 */
const SCRIPT = String.raw`
dir=$1 linger=$2 tick=$3
pidfile=$dir/data/postmaster.pid
if command -v flock >/dev/null; then lock() { flock "$@"; }; else lock() { PERL_LOCK "$@"; }; fi
is_locked() { [ -e "$1" ] && ! lock -n -s 4 4<"$1"; }
identity() { { read -r pid; read -r data; read -r began; } 2>/dev/null <"$pidfile" && echo "$pid $began"; }
titles() {
  if [ -r "/proc/$pid/task/$pid/children" ]; then
    for child in $(cat "/proc/$pid/task/$pid/children"); do tr '\0' ' ' <"/proc/$child/cmdline"; echo; done
  else
    ps -A -o ppid= -o args= | grep "^ *$pid "
  fi 2>/dev/null
}
in_use() {
  for user in "$dir"/users/*; do is_locked "$user" && return; done
  titles | grep -q -e ' \[local\] ' -e ' 127\.0\.0\.1([0-9]*) '
}
watched() { [ -n "$watched" ] && [ "$(identity)" = "$watched" ]; }

watched=$(identity)
pid=$(echo "$watched" | cut -d ' ' -f 1)
exec 5>>"$dir/guardian.lock" || exit
tries=0
until lock -n 5; do
  tries=$((tries + 1))
  [ $tries -le 3 ] && sleep "$tick" && watched || exit 0
done
idle=0
while sleep "$tick" && watched; do
  if in_use; then idle=0; continue; fi
  idle=$((idle + tick))
  [ $idle -ge "$linger" ] || is_locked "$dir/wanted.lock" || continue
  (
    lock 6
    if watched && ! in_use && is_locked "$dir/cluster.lock"; then kill -INT "$pid"; fi
  ) 6>>"$dir/lock"
done
`;

const MOST_SECONDS_BETWEEN_LOOKS = 5;

/** Starts the guardian of the Postgres in `<dir>/data`. It outlives this process. */
export function spawnGuardian(dir: string, lingerSeconds: number): void {
  const tick = Math.max(1, Math.min(MOST_SECONDS_BETWEEN_LOOKS, Math.floor(lingerSeconds / 3)));
  const perl = PERL_LOCKER.map((word) => `'${word.replaceAll("'", String.raw`'\''`)}'`).join(" ");
  const script = SCRIPT.replace("PERL_LOCK", () => perl);
  const child = spawn("/bin/sh", ["-c", script, "heddle-postgres-guardian", dir, String(lingerSeconds), String(tick)], {
    cwd: "/",
    detached: true,
    stdio: "ignore",
    env: { PATH: PROGRAM_PATH, LC_ALL: "C" },
  });
  // Without a shell, Postgres runs without a guardian.
  child.once("error", () => {});
  child.unref();
}
