/** Returns the mount prefix: empty, or a path without a trailing slash. */
export const mountPrefix = ({
  settings,
  project,
}: {
  settings: { mountPrefix?: string | undefined };
  project: { config: { http: { mount_prefix?: string | undefined } } };
}): string => settings.mountPrefix ?? project.config.http.mount_prefix ?? "";
