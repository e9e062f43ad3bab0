import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { root } from "./command.js";

/** Folder of published schemas, which are not part of this repository: GEOFERRY_SCHEMAS, or `../shared/schemas`. */
const folder = process.env.GEOFERRY_SCHEMAS ?? resolve(root, "../shared/schemas");

const hasXmllint = spawnSync("xmllint", ["--version"]).error === undefined;

/** Whether documents can be validated against this schema; prints a warning if not. */
export function canValidate(schema: string): boolean {
  const path = join(folder, schema);
  const missing = !hasXmllint ? "xmllint (libxml2-utils)" : existsSync(path) ? null : path;
  if (missing !== null) console.warn(`NOT TESTED: there is no ${missing}, so nothing is held against ${schema}`);
  return missing === null;
}

/** Validation errors of a document; empty if it is valid. */
export function validateDocument(document: string | Buffer, schema: string): string {
  const scratch = mkdtempSync(join(tmpdir(), "geoferry-schema-"));
  try {
    const path = join(scratch, "document.xml");
    writeFileSync(path, document);
    const done = spawnSync("xmllint", ["--nonet", "--noout", "--schema", join(folder, schema), path], {
      encoding: "utf8",
    });
    return done.status === 0 ? "" : `${done.error?.message ?? ""}${done.stderr}`;
  } finally {
    rmSync(scratch, { recursive: true });
  }
}
