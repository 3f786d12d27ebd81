import { text } from "../config/options.ts";

/** Settings of all outbound calls, the same in every role. */
export const outboundOptions = {
  outboundAllow: text({
    env: ["HEDDLE_OUTBOUND_ALLOW"],
    default: "",
    description:
      "What may be called besides public addresses, separated by commas: host, host:port, *.domain, address, " +
      "[address]:port, network/bits. A name opens private and loopback addresses; link-local and metadata " +
      "addresses have to be named themselves.",
  }),
};
