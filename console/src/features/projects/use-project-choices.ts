import { useQuery } from "@tanstack/react-query";

import { projectChoicesQuery } from "../rules/queries.ts";

/** Choices of a select for a project; the selected one is among them, also if it is not listed. */
export function useProjectChoices(selected: string | null, isEnabled = true): { value: string; label: string }[] {
  const { data: projects = [] } = useQuery({ ...projectChoicesQuery, enabled: isEnabled });
  const choices = projects.map(({ id, name }) => ({ value: id, label: name ?? id }));
  const isListed = selected === null || choices.some(({ value }) => value === selected);
  return isListed ? choices : [{ value: selected, label: "This project" }, ...choices];
}
