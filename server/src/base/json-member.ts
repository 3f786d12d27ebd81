/** Adds a member to an object; all texts are JSON. What is no object stays unchanged. */
export function withMember(output: Buffer | string, name: string, value: string): Buffer | string {
  const text = output.toString().trimStart();
  if (!text.startsWith("{")) return output;
  const rest = text.slice(1).trimStart();
  return `{"${name}":${value}${rest.startsWith("}") ? "" : ","}${rest}`;
}
