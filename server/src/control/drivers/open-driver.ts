import type { Log } from "../../base/log.ts";
import type { Outbound } from "../../base/outbound/outbound.ts";
import { embeddedImages } from "../registry/embedded-registry.ts";
import type { ImageSource } from "../registry/image-source.ts";
import type { ImageStore } from "../registry/image-store.ts";
import type { ControlSettings } from "../settings.ts";
import { ContainerDriver } from "./container/container-driver.ts";
import { TOKEN_USER } from "../registry/settings.ts";
import type { Driver } from "./driver.ts";
import { chooseIsolation } from "./process/isolation/choose-isolation.ts";
import { type CgroupSystem, Cgroups } from "./process/cgroups.ts";
import { ProcessDriver } from "./process/process-driver.ts";
import { CompositeDriver } from "./composite-driver.ts";

export interface OpenDriverOptions {
  directory: string;
  launcher: string;
  place: string;
  log: Log;
  images: ImageStore;
  outbound: Outbound;
  settings: ControlSettings;
  /** Where control groups are; those of this machine by default. */
  cgroups?: CgroupSystem | undefined;
}

/** Opens the process driver, and the container driver too when an engine is configured. */
export async function openDriver(options: OpenDriverOptions): Promise<Driver> {
  const { directory, launcher, place, log, outbound, settings } = options;
  const chosen = await chooseIsolation({ directory, launcher, settings });
  // where containers run deployments, this covers only older builds
  if (chosen.isolation.kind === "none" && settings.driver === "process") log.warn(chosen.explanation);
  const cgroups = new Cgroups(options.cgroups);
  const processes = new ProcessDriver({ directory, launcher, settings, cgroups, ...chosen });
  const engine = settings.containerEngine ?? (settings.driver === "container" ? DEFAULT_ENGINE : undefined);
  if (engine === undefined) return processes;
  const images: ImageSource =
    settings.registryUrl === undefined
      ? embeddedImages(options.images)
      : { kind: "remote", credentials: { username: TOKEN_USER, password: settings.registryPassword ?? "" } };
  const containers = new ContainerDriver({ engine, directory, place, log, images, outbound, settings });
  await containers.open();
  return new CompositeDriver(processes, containers, settings.driver === "container" ? "container" : "process");
}

const DEFAULT_ENGINE = "unix:///var/run/docker.sock";
