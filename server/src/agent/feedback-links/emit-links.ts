/** Reads a run's feedback links and adds them to its result. */
import { withMember } from "../../base/json-member.ts";

/**
 * @param kwargs of a run, as JSON text; parsed only when it contains the key
 * @returns the links as JSON text; undefined for a run without links
 */
export function readLinks(kwargs: string): string | undefined {
  if (!kwargs.includes('"feedback_urls"')) return undefined;
  const { feedback_urls: links } = JSON.parse(kwargs) as { feedback_urls?: object };
  return links && JSON.stringify(links);
}

/**
 * Adds the links to a run's result as `__feedback__`, as `__interrupt__` is added to an interrupted one's. A result
 * that is not an object stays unchanged: the stream and the run's `kwargs.feedback_urls` have the links too.
 * @param output JSON text
 * @param links JSON text
 */
export function withLinks(output: Buffer | string, links: string | undefined): Buffer | string {
  return links === undefined ? output : withMember(output, "__feedback__", links);
}
