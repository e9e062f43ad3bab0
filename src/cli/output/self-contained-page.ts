/** Parts of self-contained HTML pages: scripts and data that cannot end their element, and the file. */
import { asGeoferryError, createError, type GeoferryError } from "../../errors.js";
import { createSink } from "../../io/output/create-sink.js";
import { type Html, html } from "../../service/pages/rendering/html.js";

/** The beginning of a page, to which styles and the end of the head are added. @param policy of the content (CSP) */
export const pageStart = (title: string, policy: string | Html): Html => html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<title>${title}</title>
`;

/** Writes a page, or another text, atomically. @throws output-exists, output-failed */
export async function writePage(page: string, path: string, overwrite: boolean): Promise<void> {
  await using sink = await createSink(path, { overwrite });
  const file = await sink.create();
  await file.write(Buffer.from(page));
  await sink.commit();
}

/** Writes a page or another text about a run, whose other outputs stay. @throws output-exists, report-failed */
export async function writeReport(text: string, path: string, overwrite: boolean): Promise<void> {
  try {
    await writePage(text, path, overwrite);
  } catch (error) {
    throw toReportError(error, path);
  }
}

/** An error of an output names nothing that is left behind, but a report is not all that a run writes. */
export function toReportError(error: unknown, path: string): GeoferryError {
  const known = asGeoferryError(error);
  const { reason = known.message }: { readonly reason?: string } = known.details;
  return known.code === "output-failed" ? createError("report-failed", { path, reason }, error) : known;
}

/** Escapes sequences that end a script element or start a comment; valid scripts have them only in strings and patterns. */
export const escapeScript = (code: string): string => code.replaceAll(/<(?=\/script|!--|script)/gi, "\\x3c");

/** A JSON data block, escaped so that its contents cannot end it. */
export const dataBlock = (id: string, value: unknown): string =>
  `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll("<", "\\u003c")}</script>\n`;
