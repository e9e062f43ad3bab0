import { extname } from "node:path";
import { createError } from "../errors.js";
import type { Confidence, Format, Source } from "./format.js";
import { formatIds } from "./format-family.js";

/** The formats with the longest extension that matches the path: `shp.zip` takes precedence over `zip`. */
export function formatsByExtension(formats: readonly Format[], path: string): Format[] {
  const name = path.toLowerCase();
  const fits = (extension: string) => name.endsWith(`.${extension}`);
  const lengthOf = (format: Format) => Math.max(0, ...format.extensions.filter(fits).map((each) => each.length));
  const longest = Math.max(0, ...formats.map(lengthOf));
  return longest === 0 ? [] : formats.filter((format) => lengthOf(format) === longest);
}

function identifyConfidence(format: Format, head: Buffer, source: Source): Confidence {
  try {
    return format.identify(head, source);
  } catch (error) {
    const reason = `its identify failed: ${error instanceof Error ? error.message : String(error)}`;
    throw createError("plugin-invalid", { plugin: format.id, reason }, error);
  }
}

/**
 * Detects the format of a file by its content, and by its extension if several formats recognize the content.
 * `head` is up to 64 KiB from its start.
 * @throws input-empty, input-unrecognized, input-ambiguous
 */
export function detectFormat(formats: readonly Format[], head: Buffer, source: Source): Format {
  if (source.size === 0 && head.length === 0) throw createError("input-empty", { source: source.name });
  const readable = formats.filter((format) => format.reader);
  const opinions = readable.map((format) => ({ format, opinion: identifyConfidence(format, head, source) }));
  for (const sure of ["yes", "maybe"] as const) {
    const candidates = opinions.filter(({ opinion }) => opinion === sure).map(({ format }) => format);
    const [only] = candidates;
    if (only === undefined) continue;
    if (candidates.length === 1) return only;
    const fitting = formatsByExtension(candidates, source.name);
    const [byName] = fitting;
    if (fitting.length === 1 && byName !== undefined) return byName;
    const tied = fitting.length > 0 ? fitting : candidates;
    throw createError("input-ambiguous", { source: source.name, formats: tied.map((format) => format.id) });
  }
  const notZip = describeFalseZip(head, source.name);
  throw createError("input-unrecognized", {
    source: source.name,
    known: formatIds(readable),
    ...(notZip ? { notZip } : describeExtension(readable, head, source.name)),
  });
}

/** The format that the extension names, and the beginning of the content, which is in none. */
function describeExtension(formats: readonly Format[], head: Buffer, name: string) {
  const [named] = formatsByExtension(formats, name);
  const begins = head.subarray(0, maxShownBytes).toString("utf8");
  return named && { named: { extension: extname(name), label: named.label, begins } };
}

/** Bytes that a message shows. */
const maxShownBytes = 32;

/** Describes a file named `.zip` without a zip signature (APPNOTE 4.3.7), often an error page of a server. */
function describeFalseZip(head: Buffer, name: string): { readonly extension: string; readonly begins: string } | null {
  const extension = /\.(zip|kmz|shz)$/i.exec(name)?.[1];
  if (extension === undefined || head.subarray(0, 2).toString("latin1") === "PK") return null;
  return { extension, begins: head.subarray(0, maxShownBytes).toString("utf8") };
}
