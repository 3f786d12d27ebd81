/** Where the links of a run are found, and how those who wait for its result get them. */

/**
 * @param kwargs of a run, as JSON text; it is read only when the word is in it
 * @returns the links as JSON text; undefined for a run without any
 */
export function linksOf(kwargs: string): string | undefined {
  if (!kwargs.includes('"feedback_urls"')) return undefined;
  const { feedback_urls: links } = JSON.parse(kwargs) as { feedback_urls?: object };
  return links && JSON.stringify(links);
}

/**
 * The result of a run that was asked for links bears them as `__feedback__`, as one that was interrupted bears
 * `__interrupt__`. What is no object stays as it is: the stream and the run's `kwargs.feedback_urls` tell them too.
 *
 * @param answer JSON text
 * @param links JSON text
 */
export function withLinks(answer: Buffer | string, links: string | undefined): Buffer | string {
  if (links === undefined) return answer;
  const text = answer.toString().trimStart();
  if (!text.startsWith("{")) return answer;
  const rest = text.slice(1).trimStart();
  return `{"__feedback__":${links}${rest.startsWith("}") ? "" : ","}${rest}`;
}
