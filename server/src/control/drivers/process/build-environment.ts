import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, join } from "node:path";

/**
 * What commands of a build find: nothing of this process's environment but what it takes to find programs and
 * packages, a home of its own, and a package cache that all builds share.
 */
export async function buildEnvironment(
  passedOn: string,
  directory: string,
  home: string,
): Promise<Record<string, string>> {
  const cache = join(directory, "cache");
  const temporary = join(home, "tmp");
  await mkdir(cache, { recursive: true, mode: 0o700 });
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  // oxlint-disable-next-line node/no-process-env -- which of its names are passed on is a setting
  const own = process.env;
  const names = passedOn
    .split(",")
    .map((name) => name.trim())
    .filter((name) => own[name] !== undefined);
  return {
    ...Object.fromEntries(names.map((name) => [name, own[name]!])),
    // the Node that runs us, and the npm beside it, before any other
    PATH: [dirname(process.execPath), own["PATH"] ?? "/usr/local/bin:/usr/bin:/bin"].join(":"),
    HOME: home,
    TMPDIR: temporary,
    LANG: "C.UTF-8",
    CI: "1",
    npm_config_cache: join(cache, "npm"),
    npm_config_userconfig: own["npm_config_userconfig"] ?? own["NPM_CONFIG_USERCONFIG"] ?? join(homedir(), ".npmrc"),
    npm_config_update_notifier: "false",
    YARN_CACHE_FOLDER: join(cache, "yarn"),
    PNPM_HOME: join(cache, "pnpm"),
  };
}
