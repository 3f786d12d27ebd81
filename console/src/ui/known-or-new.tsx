import { SegmentedControl, Select, TextInput } from "@mantine/core";
import type { UseQueryResult } from "@tanstack/react-query";

/** Initial values of a form that chooses an existing object, by its id, or names a new one. */
export const KNOWN_OR_NEW = { mode: "known", knownId: null as string | null, name: "" };

interface KnownOrNewFieldsProps {
  form: { getInputProps: (path: "mode" | "knownId" | "name") => object };
  /** Kind of the object, as in "Existing or new queue". */
  noun: string;
  choices: Pick<UseQueryResult<readonly { id: string; name: string }[]>, "data" | "isPending" | "error">;
  isKnown: boolean;
  /** Hides the choice where there is nothing to choose from. */
  isNewOnly?: boolean;
  maxLength?: number;
}

/** Fields that choose an existing object or name a new one. */
export function KnownOrNewFields({ form, noun, choices, isKnown, isNewOnly, maxLength }: KnownOrNewFieldsProps) {
  return (
    <>
      {isNewOnly !== true && (
        <SegmentedControl
          size="xs"
          aria-label={`Existing or new ${noun}`}
          data={[
            { value: "known", label: "Existing" },
            { value: "new", label: "New" },
          ]}
          {...form.getInputProps("mode")}
        />
      )}
      {isKnown ? (
        <Select
          label={noun[0]!.toUpperCase() + noun.slice(1)}
          searchable
          placeholder={choices.isPending ? "Loading…" : `Select a ${noun}`}
          nothingFoundMessage={`No matching ${noun}s`}
          data={(choices.data ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          {...form.getInputProps("knownId")}
          error={choices.error?.message}
        />
      ) : (
        <TextInput
          label="Name"
          required
          autoFocus
          {...(maxLength !== undefined && { maxLength })}
          {...form.getInputProps("name")}
        />
      )}
    </>
  );
}
