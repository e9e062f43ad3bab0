/** What is reported of a document as a whole. */
import type { ArchiveEntries, ReadContext } from "../../../src/plugin/format.js";
import type { SkippedLinkReason } from "./linked-entries.js";

type Notice = [code: string, field: undefined, example: string];

/** The maximum number of names that a notice lists. */
const maxListed = 5;

/** The notices for links that are not read. */
const linkNotices: Readonly<Record<SkippedLinkReason, (link: string, href: string) => Notice>> = {
  elsewhere: (link, href) => [
    "network-link",
    undefined,
    `${link} refers to ${href}, which is not fetched; convert that file, too`,
  ],
  missing: (link, href) => [
    "network-link-missing",
    undefined,
    `${link} refers to ${href}, which is not in the archive; convert that file, too, if you have it`,
  ],
  repeated: (link, href) => [
    "network-link-repeated",
    undefined,
    `${link} refers to ${href}, which another link includes; each document is read once`,
  ],
};

/** The notice for a NetworkLink that is not read; `name` is empty for none. */
export function linkNotice(reason: SkippedLinkReason, name: string, href: string): Notice {
  const link = name === "" ? "NetworkLink" : `NetworkLink "${name}"`;
  return linkNotices[reason](link, href || "nothing");
}

/** Reports the documents of the archive that no link refers to. */
export function reportUnread(unread: readonly string[], source: string, context: ReadContext): void {
  if (unread.length === 0) return;
  const example = `${source} is read as one dataset; it also contains ${listPaths(unread)}, which no link refers to; unpack it to read them`;
  context.reportNotice("zip-entries-ignored", undefined, example, unread.length);
}

/** Reports the images and other files of the archive, which descriptions and styles may refer to. */
export function reportResources(archive: ArchiveEntries | undefined, source: string, context: ReadContext): void {
  const { otherPaths = [] } = archive ?? {};
  if (otherPaths.length === 0) return;
  const example = `files of ${source} that are no documents were left out, and references to them lead nowhere: ${listPaths(otherPaths)}`;
  context.reportLoss("resource-left-out", undefined, example, otherPaths.length);
}

const listPaths = (paths: readonly string[]): string =>
  `${paths.slice(0, maxListed).join(", ")}${paths.length > maxListed ? " …" : ""}`;

/** Reports shared styles that no feature uses. */
export function reportUnusedStyles(
  { ids, anonymous }: { readonly ids: readonly string[]; readonly anonymous: number },
  context: ReadContext,
): void {
  const count = ids.length + anonymous;
  if (count === 0) return;
  const listed = ids.slice(0, maxListed).map((id) => `"${id}"`);
  if (anonymous > 0) listed.push(`${anonymous} without an id`);
  const more = ids.length > maxListed ? " …" : "";
  const example = `shared styles that no feature uses were left out: ${listed.join(", ")}${more}`;
  context.reportNotice("style-unused", undefined, example, count);
}

/** Reports folders without features; `paths` has the first ones. */
export function reportEmptyFolders(count: number, paths: readonly string[], context: ReadContext): void {
  if (count === 0) return;
  const listed = paths.map((path) => `"${path}"`).join(", ");
  const example = `folders without features were left out: ${listed}${count > paths.length ? " …" : ""}`;
  context.reportNotice("folder-empty", undefined, example, count);
}
