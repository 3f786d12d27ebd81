import { pickAllowed } from "../../ui/search-params.ts";

const PROMPT_SORTS = ["updated_at", "relevance"] as const;
const PROMPT_TYPES = ["prompt", "agent", "skill", "file"] as const;
const VISIBILITIES = ["all", "private", "public"] as const;
const ARCHIVED = ["false", "allow", "true"] as const;

/** Search parameters of `/prompts`. */
export interface PromptSearch {
  text: string;
  tag: string;
  type: (typeof PROMPT_TYPES)[number] | "";
  visibility: (typeof VISIBILITIES)[number];
  /** `false`: none, `allow`: too, `true`: only archived ones. */
  archived: (typeof ARCHIVED)[number];
  sort: (typeof PROMPT_SORTS)[number];
  desc: boolean;
  /** Comma-separated ids of workspace tags. */
  tags: string;
}

/** Defaults, which the URL omits. */
export const PROMPT_SEARCH: PromptSearch = {
  text: "",
  tag: "",
  type: "",
  visibility: "all",
  archived: "false",
  sort: "updated_at",
  desc: true,
  tags: "",
};

const text = (value: unknown): string => (typeof value === "string" || typeof value === "number" ? `${value}` : "");

export const readPromptSearch = (search: Partial<Record<keyof PromptSearch, unknown>>): Partial<PromptSearch> => ({
  text: text(search.text),
  tag: text(search.tag),
  type: pickAllowed(PROMPT_TYPES, search.type) ?? "",
  visibility: pickAllowed(VISIBILITIES, search.visibility) ?? "all",
  // the router parses the words `true` and `false`
  archived: pickAllowed(ARCHIVED, text(search.archived) || String(search.archived)) ?? "false",
  sort: pickAllowed(PROMPT_SORTS, search.sort) ?? PROMPT_SEARCH.sort,
  desc: search.desc !== false,
  tags: text(search.tags),
});

const PROMPT_TABS = ["prompt", "commits", "compare", "tags", "metrics", "readme", "settings"] as const;
export type PromptTab = (typeof PROMPT_TABS)[number];

/** Search parameters of a prompt's page. */
export interface OnePromptSearch {
  tab: PromptTab;
  /** Shown commit: a tag or a hash; empty: the newest. */
  commit: string;
  /** In the tab to compare: the commits, as tags or hashes. */
  from: string;
  to: string;
  /** In the tab for metrics: the range in days. */
  days: number;
  /** In a directory: path of the shown file. */
  file: string;
}

export const ONE_PROMPT_SEARCH: OnePromptSearch = {
  tab: "prompt",
  commit: "",
  from: "",
  to: "",
  days: 30,
  file: "",
};

export const METRIC_DAYS = [1, 7, 30, 90];

export const readOnePromptSearch = (
  search: Partial<Record<keyof OnePromptSearch, unknown>>,
): Partial<OnePromptSearch> => ({
  tab: pickAllowed(PROMPT_TABS, search.tab) ?? "prompt",
  commit: text(search.commit),
  from: text(search.from),
  to: text(search.to),
  days: METRIC_DAYS.find((days) => days === search.days) ?? ONE_PROMPT_SEARCH.days,
  file: text(search.file),
});
