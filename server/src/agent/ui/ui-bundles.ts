import { access } from "node:fs/promises";
import { resolve } from "node:path";

import { ConfigError } from "../../base/config/options.ts";
import type { Project } from "../project/read-project.ts";
import { bundle, loadBundler } from "./bundle.ts";

type Files = Map<string, Uint8Array>;

/** The bundles of `ui` of langgraph.json, each built when it is first asked for and again when the project changed. */
export class UiBundles {
  #project: Project | undefined;
  #bundler: Awaited<ReturnType<typeof loadBundler>> | undefined;
  #built = new Map<string, Promise<Files>>();

  /** @throws ConfigError when an entry is not there or there is no bundler; then all is as it was */
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

  /** Undefined for an agent without one. Rejects with what is wrong with the components. */
  of(agent: string): Promise<Files> | undefined {
    const { ui, ui_config } = this.#project?.config ?? {};
    if (!this.#project || !this.#bundler || !ui || !Object.hasOwn(ui, agent)) return undefined;
    const running = this.#built.get(agent);
    if (running) return running;
    const { dir } = this.#project;
    const built = this.#built;
    const building = bundle(this.#bundler, { dir, agent, entry: ui[agent]!, shared: ui_config?.shared ?? [] });
    built.set(agent, building);
    // a component that could not be built may be mended by a package that arrives
    building.catch(() => built.delete(agent));
    return building;
  }
}
