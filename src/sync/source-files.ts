import { createHash } from "node:crypto";
import { createReadStream, existsSync } from "node:fs";
import { fault } from "../errors.js";
import { systemReason } from "../io/source.js";
import { companionsOf } from "../io/target.js";
import type { Registry } from "../plugin/registry.js";

/** A local file as it was when it was read. */
export interface SourceFileState {
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** Hexadecimal. */
  readonly sha256: string;
}

/** Files of a run with a database that is open; they come and go without a change of what it holds. */
const passing = /-(shm|wal|journal)$/i;

/**
 * The inputs that are local files and what is read beside them, `roads.dbf` and `roads.prj` with `roads.shp`: to tell
 * later whether one has changed. @throws input-unreadable
 */
export async function sourceFiles(inputs: readonly string[], registry: Registry): Promise<SourceFileState[]> {
  const paths = inputs
    .filter((input) => input !== "-" && existsSync(input))
    .flatMap((input) => [input, ...companionsOf(input, registry.siblingsOf(input))]);
  const states: SourceFileState[] = [];
  for (const path of new Set(paths.filter((path) => !passing.test(path)))) states.push(await stateOf(path));
  return states;
}

async function stateOf(path: string): Promise<SourceFileState> {
  const hash = createHash("sha256");
  let size = 0;
  try {
    for await (const chunk of createReadStream(path, { highWaterMark: 1 << 20 })) {
      hash.update(chunk as Buffer);
      size += (chunk as Buffer).length;
    }
  } catch (error) {
    throw fault("input-unreadable", { source: path, reason: systemReason(error) }, error);
  }
  return { path, size, sha256: hash.digest("hex") };
}
