/**
 * Repositories as sources of projects. The system's git fetches them, because it is what the hosts are tested with;
 * plainly spawned, because what is wanted of it is its environment, its limits and its end, not its commands in
 * another language. A name is resolved and judged here, and git is bound to the addresses that were judged.
 *
 * A commit is handed on as an archive, so that what holds for uploads (sizes, counts, paths) holds for repositories.
 */
import { createWriteStream } from "node:fs";
import { chmod, mkdir, readdir, realpath, rm, stat, writeFile } from "node:fs/promises";
import { isIP } from "node:net";
import { join, resolve } from "node:path";
import { Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";

import { AppError } from "../../base/errors.ts";
import { addressKind, parseAddress } from "../../base/outbound/address-kind.ts";
import { hostOf, portOf } from "../../base/outbound/check-url.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { OutboundError } from "../../base/outbound/outbound-error.ts";
import { BuildError } from "../drivers/driver.ts";
import type { BuildLog } from "../logs/log-writer.ts";
import { explainGit } from "./explain-git.ts";
import { describeRef, type GitRef, readGitRef } from "./git-ref.ts";
import { isBelow, readRepository } from "./repository.ts";
import { GitError, type GitOrder, runGit } from "./run-git.ts";
import type { GitSettings } from "./settings.ts";

/** A repository, and who asks for it. */
export interface GitPlace {
  repoUrl: string;
  /** Null: nobody is named, as for public repositories. */
  credentials: { username: string; token: string } | null;
}

export interface GitSourceOptions {
  settings: GitSettings & { unpackMaxMb: number };
  outbound: Outbound;
  /** `<data dir>/control`. */
  directory: string;
}

type Access = Pick<GitOrder, "config" | "protocol"> & { url: string; environment?: Record<string, string> };

const ASK_SECONDS = 30;
const MIB = 1024 * 1024;
/** The first with http.curloptResolve, by which an address is pinned. */
const OLDEST = [2, 37] as const;

export class GitSource {
  readonly #options: GitSourceOptions;
  readonly #localRoots: string[];
  #version: Promise<void> | undefined;

  constructor(options: GitSourceOptions) {
    this.#options = options;
    this.#localRoots = options.settings.gitLocal
      .split(",")
      .map((root) => root.trim())
      .filter((root) => root !== "")
      .map((root) => resolve(root));
  }

  /** Throws AppError (422) for an address that is none of ours to fetch from. */
  check(repoUrl: string): void {
    readRepository(repoUrl, this.#options.outbound, this.#localRoots);
  }

  /** What the reference names now, as a commit's hash. Throws BuildError when there is no such thing or no way to it. */
  async resolve(place: GitPlace, refText: string, signal: AbortSignal): Promise<string> {
    const ref = readRef(refText);
    await this.#checkVersion(signal);
    if (ref.kind === "commit") return ref.sha;
    return this.#inDirectory(`ask-${crypto.randomUUID()}`, async (home) => {
      const access = await this.#access(place, home);
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
        throw new BuildError(`There is no ${ref.kind} ${ref.name} in ${shown(place.repoUrl)}.`);
      }
      return sha;
    }).catch(this.#explain(place));
  }

  /**
   * Fetches one commit and nothing before it, and hands it to `use` as gzip of tar. It is there until that resolves.
   * @param id of the revision, which is fetched once at a time
   */
  async withArchive(
    order: { id: string; place: GitPlace; ref: string; sha: string; log: BuildLog; signal: AbortSignal },
    use: (file: string) => Promise<void>,
  ): Promise<void> {
    const { place, sha, log, signal } = order;
    const ref = readRef(order.ref);
    await this.#checkVersion(signal);
    await this.#inDirectory(order.id, async (home) => {
      log.write(`Fetching ${describeRef(ref)} of ${shown(place.repoUrl)}.`);
      const access = await this.#access(place, home);
      const run = (args: string[], more: Partial<GitOrder> = {}) =>
        this.#git({ ...access, args, home, signal, seconds: this.#options.settings.gitSeconds, ...more });
      const repository = join(home, "repo.git");
      const inside = ["--git-dir", repository];
      await run(["init", "--bare", "--quiet", "--template=", repository]);
      const onMessage = progressOf(log);
      const fetch = async (what: string, depth: number): Promise<void> => {
        const args = ["--progress", "--no-tags", `--depth=${depth}`, "--", access.url, `+${what}:refs/source`];
        try {
          await run([...inside, "fetch", ...args], { onMessage });
        } catch (error) {
          const { gitMaxMb } = this.#options.settings;
          // whoever of git's processes met the limit has said nothing
          if ((await largestIn(join(repository, "objects", "pack"))) < gitMaxMb * MIB) throw error;
          throw new BuildError(`${shown(place.repoUrl)} is larger than ${gitMaxMb} MiB (HEDDLE_GIT_MAX_MB).`);
        }
      };
      await fetch(sha, 1).catch(async (error: unknown) => {
        // servers of the old protocol hand out nothing but what a reference names
        if (!(error instanceof GitError) || !NOT_BY_HASH.test(error.message)) throw error;
        if (ref.kind === "commit") return;
        await fetch(ref.full, 1);
        if (!(await has(run, inside, sha))) await fetch(ref.full, DEEPER);
      });
      if (!(await has(run, inside, sha))) {
        throw new BuildError(`${shown(place.repoUrl)} has no commit ${sha} any more, or does not hand it out.`);
      }
      await warnOfTheRest(run, inside, sha, log);
      const file = join(home, "source.tar.gz");
      await this.#archive(run, inside, sha, file);
      await rm(repository, { recursive: true, force: true });
      log.write(`Fetched commit ${sha}.`);
      await use(file);
    }).catch(this.#explain(place));
  }

  /** Takes away what fetches have left that ended with their process. */
  async clear(): Promise<void> {
    await rm(this.directory, { recursive: true, force: true });
  }

  get directory(): string {
    return join(this.#options.directory, "git");
  }

  async #archive(run: Run, inside: string[], sha: string, file: string): Promise<void> {
    // what a repository says of archives is meant for its releases
    await mkdir(join(inside[1]!, "info"), { recursive: true });
    await writeFile(join(inside[1]!, "info", "attributes"), "* -export-ignore -export-subst -filter\n");
    const { unpackMaxMb } = this.#options.settings;
    let bytes = 0;
    const counted = new Transform({
      transform(chunk: Buffer, _, done) {
        bytes += chunk.length;
        if (bytes <= (unpackMaxMb + 16) * MIB) return done(null, chunk);
        done(new BuildError(`The repository holds more than ${unpackMaxMb} MiB (HEDDLE_UNPACK_MAX_MB).`));
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
    order: Access & Partial<GitOrder> & Pick<GitOrder, "args" | "signal" | "seconds"> & { home: string },
  ): Promise<string> {
    const { gitProgram, gitMaxMb } = this.#options.settings;
    return runGit({ ...order, git: gitProgram, directory: order.home, maxFileBytes: gitMaxMb * MIB });
  }

  #explain({ repoUrl }: GitPlace): (error: unknown) => never {
    return (error) => {
      throw error instanceof GitError ? explainGit(error, shown(repoUrl)) : error;
    };
  }

  /** How git gets there: the address, bound to what was judged, with what the host wants to see. */
  async #access({ repoUrl, credentials }: GitPlace, home: string): Promise<Access> {
    const { outbound } = this.#options;
    try {
      const repository = readRepository(repoUrl, outbound, this.#localRoots);
      if (repository.kind === "local") return await this.#localAccess(repository.path, home);
      const { url } = repository;
      const [host, port] = [hostOf(url), portOf(url)];
      const addresses = await outbound.resolve(host, port);
      const isPublic = addresses.some(({ address }) => addressKind(parseAddress(address)!) === "public");
      if (url.protocol === "http:" && isPublic) {
        throw new BuildError(`${shown(repoUrl)} is called by https only: http is for one's own network.`);
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
      throw isFinal ? new BuildError(`The repository ${shown(repoUrl)}: ${error.message}`) : error;
    }
  }

  /** Through links and mounts: what counts is where it really is. */
  async #localAccess(path: string, home: string): Promise<Access> {
    const real = await realpath(path).catch(() => null);
    if (real === null) throw new BuildError(`There is no repository at ${path}.`);
    const roots = await Promise.all(this.#localRoots.map((root) => realpath(root).catch(() => root)));
    if (!isBelow(real, roots))
      throw new BuildError(`${path} leads out of the directories that HEDDLE_GIT_LOCAL names.`);
    // it may be another user's, as the operator knows; git's own child reads no configuration but files
    const file = join(home, "config");
    await writeFile(file, `[safe]\n\tdirectory = *\n`, { mode: 0o600 });
    return { url: `file://${real}`, config: [], protocol: "file", environment: { GIT_CONFIG_GLOBAL: file } };
  }

  /** Once: the program is there, and new enough to be bound to addresses. */
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
          `The control plane has no git (${gitProgram}), which fetches repositories. Install it, or name it in HEDDLE_GIT.`,
        );
      },
    );
    const [, major = "0", minor = "0"] = /(\d+)\.(\d+)/.exec(text) ?? [];
    if (Number(major) > OLDEST[0] || (Number(major) === OLDEST[0] && Number(minor) >= OLDEST[1])) return;
    throw new BuildError(`${text.trim()} is too old: repositories are fetched with ${OLDEST.join(".")} or newer.`);
  }
}

type Run = (args: string[], more?: Partial<GitOrder>) => Promise<string>;

const NOT_BY_HASH = /not our ref|unadvertised object|does not allow request/i;
/** How far a branch may have moved on while its commit waited for its build, on servers of the old protocol. */
const DEEPER = 100;

const has = (run: Run, inside: string[], sha: string): Promise<boolean> =>
  run([...inside, "cat-file", "-e", `${sha}^{commit}`]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitError) return false;
      throw error;
    },
  );

/** Bytes. */
async function largestIn(directory: string): Promise<number> {
  const names = await readdir(directory).catch((): string[] => []);
  const sizes = await Promise.all(
    names.map((name) =>
      stat(join(directory, name)).then(
        (one) => one.size,
        () => 0,
      ),
    ),
  );
  return Math.max(0, ...sizes);
}

function readRef(text: string): GitRef {
  const ref = readGitRef(text);
  if (!ref) throw new BuildError(`${JSON.stringify(text)} is neither a branch nor refs/tags/<tag> nor a commit.`);
  return ref;
}

/** What a clone would have had besides. */
async function warnOfTheRest(run: Run, inside: string[], sha: string, log: BuildLog): Promise<void> {
  const names = await run([...inside, "ls-tree", "--name-only", sha, ".gitmodules", ".gitattributes"]);
  if (names.includes(".gitmodules")) {
    log.write("The repository has submodules: they are not fetched, and their directories are empty.", "WARNING");
  }
  if (!names.includes(".gitattributes")) return;
  const attributes = await run([...inside, "cat-file", "blob", `${sha}:.gitattributes`]).catch(() => "");
  if (!attributes.includes("filter=lfs")) return;
  log.write("The repository keeps files in Git LFS: they are not fetched, their pointers are.", "WARNING");
}

const PROGRESS_MS = 3000;

/** A line of each thing that git does, and one now and then while it does it. */
function progressOf(log: BuildLog): (line: string) => void {
  let last = performance.now();
  return (line) => {
    const isStep = /^(remote: )?[A-Z][a-z]+( [a-z]+)*: +\d+/.test(line);
    if (!isStep) return;
    if (!/done\.?$/.test(line) && performance.now() - last < PROGRESS_MS) return;
    last = performance.now();
    log.write(line);
  };
}

/** Without what nobody has to read: nobody's password is in there, but who knows. */
const shown = (repoUrl: string): string => repoUrl.replace(/\/\/[^/@]*@/, "//");
