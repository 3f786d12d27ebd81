import { access } from "node:fs/promises";
import { resolve } from "node:path";

import { ConfigError } from "../../base/config/options.ts";
import type { Project } from "../project/read-project.ts";
import { bundle, loadBundler } from "./bundle.ts";

type Files = Map<string, Uint8Array>;

/** Bundles of `ui` in langgraph.json. Each is built on its first request, and again after the project changed. */
export class UiBundles {
  #project: Project | undefined;
  #bundler: Awaited<ReturnType<typeof loadBundler>> | undefined;
  #built = new Map<string, Promise<Files>>();

  /**
   * Switches to another project.
   * @throws ConfigError when an entry or the bundler is missing; nothing has changed then
   */
  async configure(project: Project): Promise<void> {
    const entries = Object.entries(project.config.ui ?? {});
    for (const [agent, entry] of entries) {
      const file = resolve(project.dir, entry);
      await access(file).catch(() => {
        throw new ConfigError(`ui.${agent}: there is no file ${file}. Paths are relative to langgraph.json.`);
      });
    }
    const bundler = entries.length > 0 ? await loadBundler(project.dir) : undefined;
    this.#project = project;
    this.#bundler = bundler;
    this.#built = new Map();
  }

  /** Files of an agent's bundle; undefined for an agent without one. Rejects with the components' build error. */
  bundleOf(agent: string): Promise<Files> | undefined {
    const { ui, ui_config } = this.#project?.config ?? {};
    if (!this.#project || !this.#bundler || !ui || !Object.hasOwn(ui, agent)) return undefined;
    const running = this.#built.get(agent);
    if (running) return running;
    const { dir } = this.#project;
    const built = this.#built;
    const building = bundle(this.#bundler, { dir, agent, entry: ui[agent]!, shared: ui_config?.shared ?? [] });
    built.set(agent, building);
    // do not cache a failure: a package installed later may fix it
    building.catch(() => built.delete(agent));
    return building;
  }
}
