interface Settings {
  config?: { configurable?: Record<string, unknown> | null | undefined } | null | undefined;
  context?: unknown;
}

const isGiven = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length > 0;

/**
 * Returns the settings of an assistant of a Python graph, whose `configurable` is also its `context`, and the reverse,
 * as with LangGraph's Python server. If both are given, each stays as it is.
 */
export function mirrorConfig<T extends Settings>(settings: T): T {
  const configurable = settings.config?.configurable;
  if (isGiven(configurable) && !isGiven(settings.context)) return { ...settings, context: configurable };
  if (!isGiven(settings.context) || isGiven(configurable)) return settings;
  return { ...settings, config: { ...settings.config, configurable: settings.context } };
}
