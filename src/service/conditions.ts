/**
 * Conditional requests (RFC 9110, 13) by the revision of a map. Its strong tag is the revision; a compressed answer is
 * other bytes, so it has another tag (8.8.3.3) of the same revision.
 */
import { problem } from "./problems.js";

const compressed = "-gzip";

export const entityTag = (revision: number, gzip = false): string => `"${revision}${gzip ? compressed : ""}"`;

export const gzipTag = (tag: string): string => tag.replace(/"$/, `${compressed}"`);

/** `*`, or the tags of a list, each with its weakness. */
type Tags = "*" | readonly { readonly weak: boolean; readonly revision: number | null }[];

function tagsIn(header: string): Tags {
  if (header.trim() === "*") return "*";
  return [...header.matchAll(/(W\/)?"([^"]*)"/g)].map(([, weak, tag]) => {
    const revision = /^(\d{1,15})(?:-gzip)?$/.exec(tag!)?.[1];
    return { weak: weak !== undefined, revision: revision === undefined ? null : Number(revision) };
  });
}

/** Whether the client has what it asks for: If-None-Match, weak comparison (13.1.2). */
export function isKnown(header: string | undefined, revision: number): boolean {
  if (header === undefined) return false;
  const tags = tagsIn(header);
  return tags === "*" || tags.some((tag) => tag.revision === revision);
}

/** The revisions that If-Match allows, by strong comparison (13.1.1); null for any. */
export function allowedRevisions(header: string | undefined): readonly number[] | null {
  if (header === undefined) return null;
  const tags = tagsIn(header);
  if (tags === "*") return null;
  return tags.flatMap(({ weak, revision }) => (weak || revision === null ? [] : [revision]));
}

/** Throws 412 where the revision is not allowed. */
export function checkRevision(allowed: readonly number[] | null, revision: number): void {
  if (allowed && !allowed.includes(revision)) {
    throw problem("precondition-failed", {}, { headers: { etag: entityTag(revision) } });
  }
}

/** Throws 412 where a write is asked for only unless the map is there, or in a state that is named (RFC 9110, 13.1.2). */
export function checkNotKnown(header: string | undefined, revision: number): void {
  if (isKnown(header, revision)) throw problem("precondition-failed", {}, { headers: { etag: entityTag(revision) } });
}
