/**
 * Fetches repositories as sources of projects, with the system's git, because hosts are tested with it. It is spawned
 * directly, because we need control of its environment, limits and end rather than a wrapper of its commands. Names are
 * resolved and checked here, and git is pinned to the checked addresses.
 *
 * A commit is passed on as an archive, so that the checks of uploads (sizes, counts, paths) apply to repositories too.
 */
import { createWriteStream } from "node:fs";
import { chmod, mkdir, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import { splitList } from "../../base/config/options.ts";
import { AppError } from "../../base/errors.ts";
import { addressKind, parseAddress } from "../../base/outbound/address-kind.ts";
import { urlHost, urlPort } from "../../base/outbound/check-url.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import { BuildError } from "../builds/build-error.ts";
import type { BuildLog } from "../logs/log-writer.ts";
import { explainGit } from "./explain-git.ts";
import { describeRef, type GitRef, readGitRef } from "./git-ref.ts";
import { isBelow, readRepository } from "./repository.ts";
import { GitError, type GitParams, runGit } from "./run-git.ts";
import type { GitSettings } from "./settings.ts";

/** A repository, and the credentials to access it. */
export interface GitRemote {
  repoUrl: string;
  /** Null for anonymous access, as for public repositories. */
  credentials: { username: string; token: string } | null;
}

export interface GitSourceOptions {
  settings: GitSettings & { unpackMaxMb: number };
  outbound: Outbound;
  /** `<data dir>/control`. */
  directory: string;
}

type Access = Pick<GitParams, "config" | "protocol"> & { url: string; environment?: Record<string, string> };

const ASK_SECONDS = 30;
const MIB = 1024 * 1024;
/** The first version with http.curloptResolve, which pins addresses. */
const OLDEST = [2, 37] as const;

export class GitSource {
  readonly #options: GitSourceOptions;
  readonly #localRoots: string[];
  #version: Promise<void> | undefined;

  constructor(options: GitSourceOptions) {
    this.#options = options;
    this.#localRoots = splitList(options.settings.gitLocal).map((root) => resolve(root));
  }

  /** Throws AppError (422) for a URL that must not be fetched. */
  check(repoUrl: string): void {
    readRepository(repoUrl, this.#options.outbound, this.#localRoots);
  }

  /**
   * Resolves a reference to a commit's hash. Throws BuildError when it does not exist or the repository is
   * inaccessible.
   */
  async resolve(remote: GitRemote, refText: string, signal: AbortSignal): Promise<string> {
    const ref = readRef(refText);
    await this.#checkVersion(signal);
    if (ref.kind === "commit") return ref.sha;
    return this.#inDirectory(`ask-${crypto.randomUUID()}`, async (home) => {
      const access = await this.#access(remote, home);
      const patterns = ref.kind === "tag" ? [ref.full, `${ref.full}^{}`] : [ref.full];
      const args = ["ls-remote", "--quiet", "--", access.url, ...patterns];
      const text = await this.#git({
        ...access,
        args,
        home,
        signal,
        seconds: Math.min(ASK_SECONDS, this.#options.settings.gitSeconds),
      });
      const found = new Map(text.split("\n").map((line) => line.split("\t").toReversed() as [string, string]));
      const sha = found.get(`${ref.full}^{}`) ?? found.get(ref.full);
      if (!sha || !/^[0-9a-f]{40,64}$/.test(sha)) {
        throw new BuildError(`There is no ${ref.kind} ${ref.name} in ${withoutCredentials(remote.repoUrl)}.`);
      }
      return sha;
    }).catch(this.#explain(remote));
  }

  /**
   * Fetches one commit without history, and passes it to `use` as a tar.gz, which exists until that resolves.
   * @param id the revision's id; fetched only once at a time
   */
  async withArchive<Result>(
    params: { id: string; remote: GitRemote; ref: string; sha: string; log: BuildLog; signal: AbortSignal },
    use: (file: string) => Promise<Result>,
  ): Promise<Result> {
    const { remote, sha, log, signal } = params;
    const ref = readRef(params.ref);
    await this.#checkVersion(signal);
    return this.#inDirectory(params.id, async (home) => {
      log.write(`Fetching ${describeRef(ref)} of ${withoutCredentials(remote.repoUrl)}.`);
      const access = await this.#access(remote, home);
      const run = (args: string[], more: Partial<GitParams> = {}) =>
        this.#git({ ...access, args, home, signal, seconds: this.#options.settings.gitSeconds, ...more });
      const repository = join(home, "repo.git");
      const inside = ["--git-dir", repository];
      await run(["init", "--bare", "--quiet", "--template=", repository]);
      const onMessage = reportProgress(log);
      const fetch = async (what: string, depth: number): Promise<void> => {
        const args = ["--progress", "--no-tags", `--depth=${depth}`, "--", access.url, `+${what}:refs/source`];
        try {
          await run([...inside, "fetch", ...args], { onMessage });
        } catch (error) {
          const { gitMaxMb } = this.#options.settings;
          // the git process that exceeded the limit printed nothing
          if ((await largestIn(join(repository, "objects", "pack"))) < gitMaxMb * MIB) throw error;
          throw new BuildError(
            `${withoutCredentials(remote.repoUrl)} is larger than ${gitMaxMb} MiB (HEDDLE_GIT_MAX_MB).`,
          );
        }
      };
      await fetch(sha, 1).catch(async (error: unknown) => {
        // servers of the old protocol serve only commits that a reference names
        if (!(error instanceof GitError) || !NOT_BY_HASH.test(error.message)) throw error;
        if (ref.kind === "commit") return;
        await fetch(ref.full, 1);
        if (!(await has(run, inside, sha))) await fetch(ref.full, DEEPER);
      });
      if (!(await has(run, inside, sha))) {
        throw new BuildError(
          `${withoutCredentials(remote.repoUrl)} no longer has the commit ${sha}, or does not serve it.`,
        );
      }
      await warnOfTheRest(run, inside, sha, log);
      const file = join(home, "source.tar.gz");
      await this.#archive(run, inside, sha, file);
      await rm(repository, { recursive: true, force: true });
      log.write(`Fetched commit ${sha}.`);
      return use(file);
    }).catch(this.#explain(remote));
  }

  /** Removes leftovers of fetches whose process died. */
  async clear(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  get directory(): string {
    return join(this.#options.directory, "git");
  }

  async #archive(run: Run, inside: string[], sha: string, file: string): Promise<void> {
    // a repository's export attributes are meant for its releases
    await mkdir(join(inside[1]!, "info"), { recursive: true });
    await writeFile(join(inside[1]!, "info", "attributes"), "* -export-ignore -export-subst -filter\n");
    const { unpackMaxMb } = this.#options.settings;
    let bytes = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        if (bytes <= (unpackMaxMb + 16) * MIB) return done(null, chunk);
        done(new BuildError(`The repository's files are larger than ${unpackMaxMb} MiB (HEDDLE_UNPACK_MAX_MB).`));
      },
    });
    await run([...inside, "archive", "--format=tar", sha], {
      onOutput: (output) =>
        pipeline(output, counted, createGzip({ level: 1 }), createWriteStream(file, { mode: 0o600 })),
    });
  }

  async #inDirectory<T>(name: string, work: (home: string) => Promise<T>): Promise<T> {
    const home = join(this.directory, name);
    await rm(home, { recursive: true, force: true });
    await mkdir(home, { recursive: true, mode: 0o700 });
    await chmod(home, 0o700);
    try {
      return await work(home);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }

  #git(
    params: Access & Partial<GitParams> & Pick<GitParams, "args" | "signal" | "seconds"> & { home: string },
  ): Promise<string> {
    const { gitProgram, gitMaxMb } = this.#options.settings;
    return runGit({ ...params, git: gitProgram, directory: params.home, maxFileBytes: gitMaxMb * MIB });
  }

  #explain({ repoUrl }: GitRemote): (error: unknown) => never {
    return (error) => {
      throw error instanceof GitError ? explainGit(error, withoutCredentials(repoUrl)) : error;
    };
  }

  /** Prepares git's access: the URL, pinned to the checked IP addresses, and the credentials. */
  async #access({ repoUrl, credentials }: GitRemote, home: string): Promise<Access> {
    const { outbound } = this.#options;
    try {
      const repository = readRepository(repoUrl, outbound, this.#localRoots);
      if (repository.kind === "local") return await this.#localAccess(repository.path, home);
      const { url } = repository;
      const [host, port] = [urlHost(url), urlPort(url)];
      const addresses = await outbound.resolve(host, port);
      const isPublic = addresses.some(({ address }) => addressKind(parseAddress(address)!) === "public");
      if (url.protocol === "http:" && isPublic) {
        throw new BuildError(
          `${withoutCredentials(repoUrl)} must be an https:// URL: http is only allowed in private networks.`,
        );
      }
      const config: Access["config"] = [];
      if (isIP(host) === 0) {
        const list = addresses.map(({ address, family }) => (family === 6 ? `[${address}]` : address)).join(",");
        config.push(["http.curloptResolve", `${host}:${port}:${list}`]);
      }
      if (credentials) {
        const text = Buffer.from(`${credentials.username}:${credentials.token}`).toString("base64");
        config.push([`http.${url.origin}/.extraHeader`, `Authorization: Basic ${text}`]);
      }
      return { url: url.href, config, protocol: url.protocol.slice(0, -1) };
    } catch (error) {
      const isFinal = error instanceof AppError && !(error instanceof OutboundError && error.status !== 422);
      throw isFinal ? new BuildError(`The repository ${withoutCredentials(repoUrl)}: ${error.message}`) : error;
    }
  }

  /** Prepares access to a local repository. Checks its real path, after links and mounts. */
  async #localAccess(path: string, home: string): Promise<Access> {
    const real = await realpath(path).catch(() => null);
    if (real === null) throw new BuildError(`There is no repository at ${path}.`);
    const roots = await Promise.all(this.#localRoots.map((root) => realpath(root).catch(() => root)));
    if (!isBelow(real, roots)) throw new BuildError(`${path} is outside the directories in HEDDLE_GIT_LOCAL.`);
    // it may belong to another user, as the operator knows; git's child processes read configuration from files only
    const file = join(home, "config");
    await writeFile(file, `[safe]\n\tdirectory = *\n`, { mode: 0o600 });
    return { url: `file://${real}`, config: [], protocol: "file", environment: { GIT_CONFIG_GLOBAL: file } };
  }

  /** Checks once that git exists and is new enough to pin addresses. */
  #checkVersion(signal: AbortSignal): Promise<void> {
    this.#version ??= this.#readVersion(signal).catch((error: unknown) => {
      this.#version = undefined;
      throw error;
    });
    return this.#version;
  }

  async #readVersion(signal: AbortSignal): Promise<void> {
    const { gitProgram } = this.#options.settings;
    const common = { directory: this.#options.directory, config: [], protocol: "", signal, seconds: ASK_SECONDS };
    const text = await runGit({ ...common, git: gitProgram, args: ["version"], maxFileBytes: MIB }).catch(
      (error: unknown) => {
        if (!(error instanceof GitError) || (error.code !== 127 && error.code !== 126)) throw error;
        throw new BuildError(
          `The control plane cannot find git (${gitProgram}), which it needs to fetch repositories. Install it, ` +
            "or set its path in HEDDLE_GIT.",
        );
      },
    );
    const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(text) ?? [];
    if (Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])) return;
    throw new BuildError(`${text.trim()} is too old: the control plane needs git ${OLDEST.join(".")} or newer.`);
  }
}

type Run = (args: string[], more?: Partial<GitParams>) => Promise<string>;

const NOT_BY_HASH = /not our ref|unadvertised object|does not allow request/i;
/**
 * Depth of a second fetch on servers of the old protocol: how far a branch may have moved while its build was queued.
 */
const DEEPER = 100;

const has = (run: Run, inside: string[], sha: string): Promise<boolean> =>
  run([...inside, "cat-file", "-e", `${sha}^{commit}`]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitError) return false;
      throw error;
    },
  );

/** Returns the size of the largest file, in bytes. */
async function largestIn(directory: string): Promise<number> {
  const names = await readdir(directory).catch((): string[] => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(directory, name)).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  return Math.max(0, ...sizes);
}

function readRef(text: string): GitRef {
  const ref = readGitRef(text);
  if (!ref) throw new BuildError(`${JSON.stringify(text)} is not a branch, refs/tags/<tag> or commit.`);
  return ref;
}

/** Warns of parts that a clone would include: submodules and Git LFS files. */
async function warnOfTheRest(run: Run, inside: string[], sha: string, log: BuildLog): Promise<void> {
  const names = await run([...inside, "ls-tree", "--name-only", sha, ".gitmodules", ".gitattributes"]);
  if (names.includes(".gitmodules")) {
    log.write("The repository has submodules. They are not fetched; their directories stay empty.", "WARNING");
  }
  if (!names.includes(".gitattributes")) return;
  const attributes = await run([...inside, "cat-file", "blob", `${sha}:.gitattributes`]).catch(() => "");
  if (!attributes.includes("filter=lfs")) return;
  log.write(
    "The repository stores files in Git LFS. They are not fetched; the project contains their pointer files.",
    "WARNING",
  );
}

const PROGRESS_MS = 3000;

/** Logs each step of git once, and its progress at intervals. */
function reportProgress(log: BuildLog): (line: string) => void {
  let last = performance.now();
  return (line) => {
    const isStep = /^(remote: )?[A-Z][a-z]+( [a-z]+)*: +\d+/.test(line);
    if (!isStep) return;
    if (!/done\.?$/.test(line) && performance.now() - last < PROGRESS_MS) return;
    last = performance.now();
    log.write(line);
  };
}

/** Returns the URL without credentials, for messages. Valid URLs have none. */
const withoutCredentials = (repoUrl: string): string => repoUrl.replace(/\/\/[^/@]*@/, "//");
