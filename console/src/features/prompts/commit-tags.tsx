import { Badge } from "@mantine/core";

interface CommitTagsProps {
  tags: readonly { tag_name: string; commit_hash: string }[];
  hash: string | null | undefined;
}

/** The tags of a prompt that point to the commit. */
export const CommitTags = ({ tags, hash }: CommitTagsProps) =>
  tags
    .filter((tag) => tag.commit_hash === hash)
    .map(({ tag_name: tag }) => (
      <Badge key={tag} size="sm" variant="light" tt="none">
        {tag}
      </Badge>
    ));
