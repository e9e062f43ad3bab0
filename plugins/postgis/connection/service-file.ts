import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { createError } from "../../../src/plugin/index.js";
import type { ConnectionKeywords } from "./address.js";

/** Service files in libpq's order (PostgreSQL, "The Connection Service File"). */
function serviceFiles({ PGSERVICEFILE, PGSYSCONFDIR }: NodeJS.ProcessEnv): string[] {
  const own = PGSERVICEFILE || join(homedir(), ".pg_service.conf");
  const folders = PGSYSCONFDIR ? [PGSYSCONFDIR] : ["/etc/postgresql-common", "/etc"];
  return [own, ...folders.map((folder) => join(folder, "pg_service.conf"))];
}

/** Parameters of a service. @throws usage if no file has it */
export function readService(service: string, environment: NodeJS.ProcessEnv): ConnectionKeywords {
  const there = serviceFiles(environment).filter((path) => existsSync(path));
  for (const path of there) {
    const found = readSection(readFileSync(path, "utf8"), service);
    if (found) return found;
  }
  const where = there.length > 0 ? `in ${there.join(", ")}` : `(${serviceFiles(environment)[0]!} does not exist)`;
  throw createError("usage", { reason: `there is no service "${service}" ${where}` });
}

function readSection(text: string, service: string): ConnectionKeywords | null {
  let section: Map<string, string> | null = null;
  for (const line of text.split(/\r?\n/).map((line) => line.trim())) {
    if (line === "" || line.startsWith("#")) continue;
    if (line.startsWith("[")) {
      if (section) return section;
      if (line === `[${service}]`) section = new Map();
    } else if (section) {
      const at = line.indexOf("=");
      if (at > 0) section.set(line.slice(0, at).trim(), line.slice(at + 1).trim());
    }
  }
  return section;
}
