import { Anchor, Code, Table } from "@mantine/core";
import ReactMarkdown, { type Components } from "react-markdown";
import remarkGfm from "remark-gfm";

const COMPONENTS: Components = {
  a: ({ href, children }) => (
    <Anchor href={href ?? ""} target="_blank" rel="noopener noreferrer nofollow" underline="always" inherit>
      {children}
    </Anchor>
  ),
  // Images are not loaded from URLs that a model wrote: a request could leak what the model knows
  img: ({ src, alt }) => (
    <Anchor href={typeof src === "string" ? src : ""} target="_blank" rel="noopener noreferrer nofollow" inherit>
      {alt || String(src)}
    </Anchor>
  ),
  pre: ({ children }) => <pre tabIndex={0}>{children}</pre>,
  code: ({ children, className }) => <Code className={className}>{children}</Code>,
  table: ({ children }) => (
    <Table.ScrollContainer minWidth={200}>
      <Table withTableBorder withColumnBorders verticalSpacing={4}>
        {children}
      </Table>
    </Table.ScrollContainer>
  ),
  th: ({ children }) => <Table.Th>{children}</Table.Th>,
  td: ({ children }) => <Table.Td>{children}</Table.Td>,
  tr: ({ children }) => <Table.Tr>{children}</Table.Tr>,
  thead: ({ children }) => <Table.Thead>{children}</Table.Thead>,
  tbody: ({ children }) => <Table.Tbody>{children}</Table.Tbody>,
};
const PLUGINS = [remarkGfm];

/** Load it lazily. HTML inside it stays text. */
export function Markdown({ text }: { text: string }) {
  return (
    <ReactMarkdown remarkPlugins={PLUGINS} components={COMPONENTS}>
      {text}
    </ReactMarkdown>
  );
}
