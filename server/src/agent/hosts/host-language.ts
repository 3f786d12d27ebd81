import { type Language, languageOf } from "../../base/graph-language.ts";
import type { Project } from "../project/read-project.ts";

/** How a host process is started. */
export interface HostLaunch {
  command: string;
  /** Arguments for a memory limit in MB. */
  args(memoryMb: number): string[];
  environment: Record<string, string>;
  /** Whether the host writes and reads checkpoints itself. Otherwise the server does, and it gets no credentials. */
  usesDatabase: boolean;
  /** Description of the project, read by the host. */
  project: object;
  /** Whether the host runs a lifespan of the project, which must end before the process does. */
  hasLifespan: boolean;
  /** Whether the host can interrupt code that blocks its event loop. */
  canInterrupt: boolean;
  /** What a developer should do instead of blocking the event loop, in one sentence. */
  blockHint: string;
  /** Resident memory in MB beyond which the server kills the host. */
  mostMemoryMb(memoryMb: number): number;
}

/** The hosts of one language. */
export interface HostLanguage {
  name: Language;
  /**
   * Finds what hosts need on this machine, or the reason why the project's graphs cannot be loaded. `warning`: what a
   * developer should know although the graphs are loaded.
   */
  prepare(project: Project): Promise<{ launch: HostLaunch; warning?: string | undefined } | { problem: string }>;
}

/** Functions of `heddle.hosts.lifespan` for hosts of a language. */
export const lifespanOf = ({ config }: Pick<Project, "config">, language: Language): string[] =>
  (config.heddle?.hosts?.lifespan ?? []).filter((path) => languageOf(path) === language);
