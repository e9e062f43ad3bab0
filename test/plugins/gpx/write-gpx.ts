import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import gpx from "../../../plugins/gpx/index.js";
import { type Batch, type Feature, type Loss, packFeatures } from "../../../src/model/index.js";
import { writeFile } from "../../../src/testing/write-file.js";

/** Writes features. @returns the output and the reported losses */
export async function writeGpx(
  given: Batch | readonly Feature[],
  options: Record<string, string> = {},
): Promise<{ text: string; losses: readonly Loss[] }> {
  const folder = mkdtempSync(join(tmpdir(), "gpx-writing-"));
  try {
    const batch = "columns" in given ? given : packFeatures([...given], 1, null);
    const [file] = await writeFile(gpx, folder, batch, { options, name: "a layer" });
    return { text: readFileSync(file!.path, "utf8"), losses: file!.losses };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the elements between the head of the file and its declarations. */
export function bodyOf(text: string): string {
  const from = text.indexOf("</metadata>") + "</metadata>".length + 1;
  const to = text.lastIndexOf("<extensions><gf:fields>");
  return text.slice(from, to < 0 ? text.lastIndexOf("</gpx>") : to);
}
