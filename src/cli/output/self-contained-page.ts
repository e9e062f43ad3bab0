/** Parts of self-contained HTML pages: scripts and data that cannot end their element, and the file. */
import { createSink } from "../../io/output/create-sink.js";

/** Writes a page atomically. @throws output-exists, output-failed */
export async function writePage(page: string, path: string, overwrite: boolean): Promise<void> {
  await using sink = await createSink(path, { overwrite });
  const file = await sink.create();
  await file.write(Buffer.from(page));
  await sink.commit();
}

/** Escapes sequences that end a script element or start a comment; valid scripts have them only in strings and patterns. */
export const escapeScript = (code: string): string => code.replaceAll(/<(?=\/script|!--|script)/gi, "\\x3c");

/** A JSON data block, escaped so that its contents cannot end it. */
export const dataBlock = (id: string, value: unknown): string =>
  `<script type="application/json" id="${id}">${JSON.stringify(value).replaceAll("<", "\\u003c")}</script>\n`;
