import { TextInput } from "@mantine/core";
import { useDebouncedCallback } from "@mantine/hooks";
import { IconSearch } from "@tabler/icons-react";

interface SearchFieldProps {
  label: string;
  placeholder: string;
  /** Text when the field appears. */
  initial: string;
  /** Called when the typing pauses. */
  onSearch: (text: string) => void;
  /** Width in pixels, except on a phone. */
  width?: number;
}

/** Field that searches a list while one types. */
export function SearchField({ label, placeholder, initial, onSearch, width = 260 }: SearchFieldProps) {
  const tell = useDebouncedCallback(onSearch, 250);
  return (
    <TextInput
      aria-label={label}
      placeholder={placeholder}
      leftSection={<IconSearch size={14} aria-hidden />}
      size="xs"
      w={{ base: "100%", xs: width }}
      defaultValue={initial}
      onChange={({ currentTarget: { value } }) => tell(value)}
    />
  );
}
