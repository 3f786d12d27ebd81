import { Center, Loader } from "@mantine/core";

/** Instead of everything, while the first answer is on its way. */
export function Waiting() {
  return (
    <Center mih="100vh">
      <Loader aria-label="Loading" />
    </Center>
  );
}
