/** Paths readable by every command in bubblewrap: the system's programs, Node.js and Heddle itself. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";

/** A directory or file bound at a path, or a symbolic link. */
export type VisiblePath = { path: string; from: string } | { path: string; linksTo: string };

const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/nix/store"];

/** Entries of /etc: names, certificates, libraries, time and fonts. No accounts, no keys. */
const ETC = [
  ...["resolv.conf", "hosts", "host.conf", "nsswitch.conf", "gai.conf", "services", "protocols"],
  ...["ssl/certs", "ssl/openssl.cnf", "ca-certificates", "ca-certificates.conf", "pki/tls/certs", "pki/ca-trust"],
  ...["ld.so.cache", "ld.so.conf", "ld.so.conf.d", "alternatives", "localtime", "timezone", "os-release"],
  ...["mime.types", "fonts", "crypto-policies"],
].map((name) => `/etc/${name}`);

/** Parts of Heddle's package, in a checkout, compiled from one (scripts/build/compile-sources.mjs) or installed. */
const PACKAGE = [
  "package.json",
  "tsconfig.json",
  "cli",
  "server",
  "host-kit",
  "graph-host",
  "graph-host-python",
  "dist",
  "joined",
  "node_modules",
];

/** Links in the compiled sources of a checkout (scripts/build/compile-sources.mjs) to files that are read at run time. */
const LINKED = ["server/migrations", "graph-host/preload.mjs", "graph-host/replaced-modules.mjs"];

export interface VisiblePaths {
  paths: VisiblePath[];
  /** Directories below them that appear empty. */
  hidden: string[];
}

/** `launcher`: path of bin/heddle.js. */
export function visiblePaths(launcher: string, node = process.execPath): VisiblePaths {
  const program = realpathSync(node);
  const bin = dirname(program);
  const root = join(dirname(realpathSync(launcher)), "../..");
  const modules = [];
  for (let above = dirname(root); above !== "/"; above = dirname(above)) modules.push(join(above, "node_modules"));
  const heddle = [...PACKAGE.map((name) => join(root, name)), ...linkTargets(root), ...modules];
  // npm, and the headers for native modules, are installed beside Node.js
  const runtime = isBelow(bin, "/usr") ? [] : [bin, join(bin, "../lib/node_modules"), join(bin, "../include/node")];
  const present = [...SYSTEM, ...ETC, "/sys/devices/system/cpu", ...runtime, ...heddle].filter((path) =>
    existsSync(path),
  );
  const paths = [...new Set(present)].map((path): VisiblePath => {
    // system links such as /bin to usr/bin remain links
    if (SYSTEM.includes(path) && lstatSync(path).isSymbolicLink()) return { path, linksTo: readlinkSync(path) };
    return { path, from: realpathSync(path) };
  });
  const caches = [join(root, "node_modules"), ...modules].map((path) => join(path, ".cache"));
  return { paths, hidden: caches.filter((path) => existsSync(path)) };
}

/** Targets of the links below the package that lie outside it. */
const linkTargets = (root: string): string[] =>
  LINKED.map((name) => join(root, name))
    .filter((path) => existsSync(path))
    .map((path) => realpathSync(path))
    .filter((path) => !isBelow(path, realpathSync(root)));

const isBelow = (path: string, directory: string): boolean => path === directory || path.startsWith(`${directory}/`);
