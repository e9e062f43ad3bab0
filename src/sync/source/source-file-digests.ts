import { createHash } from "node:crypto";
import { createReadStream, existsSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { createError } from "../../errors.js";
import { describeSystemError } from "../../io/input/source.js";
import { findCompanions } from "../../io/output/temporary-names.js";
import type { Registry } from "../../plugin/registry.js";

/** The state of a local file when it was read. */
export interface SourceFileDigest {
  readonly path: string;
  /** Size in bytes. */
  readonly size: number;
  /** SHA-256 of the file, hexadecimal. */
  readonly sha256: string;
}

/** Temporary files of an open database; they appear and disappear without a change of content. */
const databaseJournalPattern = /-(shm|wal|journal)$/i;

/**
 * Digests of local inputs and their companion files, such as `roads.dbf` and `roads.prj` for `roads.shp`, to detect
 * later changes. @throws input-unreadable
 */
export async function readSourceFileDigests(
  inputs: readonly string[],
  registry: Registry,
): Promise<SourceFileDigest[]> {
  const paths = inputs.flatMap((input) => {
    const stat = input !== "-" && existsSync(input) ? statSync(input) : undefined;
    if (stat?.isDirectory()) return listFolder(input);
    // A pipe can be read once.
    return stat?.isFile() ? [input, ...findCompanions(input, registry.findSiblingExtensions(input))] : [];
  });
  const states: SourceFileDigest[] = [];
  for (const path of new Set(paths.filter((path) => !databaseJournalPattern.test(path))))
    states.push(await digestFile(path));
  return states;
}

/** The files of a folder that is one dataset. */
const listFolder = (folder: string): string[] =>
  readdirSync(folder, { withFileTypes: true }).flatMap((entry) => (entry.isFile() ? [join(folder, entry.name)] : []));

async function digestFile(path: string): Promise<SourceFileDigest> {
  const hash = createHash("sha256");
  let size = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).length;
    }
  } catch (error) {
    throw createError("input-unreadable", { source: path, reason: describeSystemError(error) }, error);
  }
  return { path, size, sha256: hash.digest("hex") };
}
