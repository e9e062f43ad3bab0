/**
 * Companions that several datasets of one name may share: `roads.prj` declares the system of `roads.csv`, `roads.tsv` or
 * `roads.shp`. An output must not take over, replace or remove the companions of another dataset, or give it one.
 */
import { basename } from "node:path";
import { createError, type GeoferryError } from "../../errors.js";
import { findCompanions } from "../../io/output/temporary-names.js";
import type { Format } from "../../plugin/format.js";
import type { Registry } from "../../plugin/registry.js";
import { zipOptions } from "./plan-outputs.js";

/** Whether files of the format have such a companion alone (`roads.shx`), share it with others (`.prj` of a CSV), or have none. */
type Claim = "own" | "shared" | "none";

function claimOf({ companionExtensions, sharedCompanionExtensions, reader }: Format, extension: string): Claim {
  if (companionExtensions?.includes(extension)) return "own";
  return [sharedCompanionExtensions, reader?.siblingExtensions].some((list) => list?.includes(extension))
    ? "shared"
    : "none";
}

/** All extensions of companions that the format writes, removes or reads. */
const companionExtensionsOf = ({ companionExtensions, sharedCompanionExtensions, reader }: Format): string[] => [
  ...new Set([companionExtensions, sharedCompanionExtensions, reader?.siblingExtensions].flatMap((list) => list ?? [])),
];

/** The existing files beside a path; none if the folder cannot be listed, which opening the file reports. */
export function filesBeside(file: string, extensions: readonly string[]): string[] {
  try {
    return findCompanions(file, extensions);
  } catch {
    return [];
  }
}

/** The existing main files of a format beside a path, apart from archives: `roads.shp` for `roads.dbf`. */
export function mainFilesBeside(file: string, { extensions, companionExtensions, archive }: Format): string[] {
  const isMain = (name: string) => !companionExtensions?.includes(name) && !archive?.extensions.includes(name);
  return filesBeside(file, extensions.filter(isMain));
}

/** Another dataset of the name of an output. */
interface Neighbor {
  readonly path: string;
  readonly format: Format;
}

/** The other datasets with the name of the file, apart from companions such as `roads.dbf` and from archives. */
function findNeighbors(file: string, registry: Registry): Neighbor[] {
  const formats = registry.all().filter((format) => companionExtensionsOf(format).length > 0);
  return formats.flatMap((format) => mainFilesBeside(file, format).map((path) => ({ path, format })));
}

/**
 * The dataset that a companion of the output belongs to, or null if it is the output's own. A companion that only one of
 * both shares belongs to the other: a `.prj` beside a Shapefile is not that of a table.
 */
function findOwner(neighbors: readonly Neighbor[], extension: string, claim: Claim): Neighbor | null {
  const claims = (wanted: Claim) => neighbors.find(({ format }) => claimOf(format, extension) === wanted) ?? null;
  return claims("own") ?? (claim === "own" ? null : claims("shared"));
}

const extensionOf = (companion: string, extensions: readonly string[]): string =>
  extensions.find((extension) => companion.toLowerCase().endsWith(`.${extension}`)) ?? "";

const advice = "choose another output name";

/**
 * Returns why the output must not be written beside the companions of other datasets, or null.
 * @param file the output with symbolic links resolved
 * @param exists whether the output exists, so that companions may be its own
 */
export function refuseForeignCompanion(
  path: string,
  file: string,
  exists: boolean,
  format: Format,
  registry: Registry,
): GeoferryError | null {
  if (zipOptions(path, format).zip) return null;
  const extensions = companionExtensionsOf(format);
  const companions = filesBeside(file, extensions);
  if (companions.length === 0) return null;
  const neighbors = findNeighbors(file, registry);
  for (const companion of companions) {
    const extension = extensionOf(companion, extensions);
    const claim = claimOf(format, extension);
    const owner = findOwner(neighbors, extension, exists ? claim : "shared");
    // A table ignores, and keeps, the companion that belongs to a Shapefile; `refuseForeignPrj` checks whether it needs it.
    if (owner === null || (claim === "shared" && claimOf(owner.format, extension) === "own")) continue;
    const use = `and ${path} would use or replace it`;
    return createError("usage", { reason: `${companion}: belongs to ${basename(owner.path)}, ${use}; ${advice}` });
  }
  return null;
}

/**
 * Returns why a table must not get a `.prj` file, or null: another dataset of the same name has one, or would be read
 * with it.
 */
export function refuseForeignPrj(
  path: string,
  file: string,
  crsName: string,
  format: Format,
  registry: Registry,
): GeoferryError | null {
  // A Shapefile that is new has its .prj to itself: tables beside it ignore it.
  if (claimOf(format, "prj") !== "shared" || zipOptions(path, format).zip) return null;
  const owner = findOwner(findNeighbors(file, registry), "prj", "shared");
  if (owner === null) return null;
  const [prj] = filesBeside(file, ["prj"]);
  const name = basename(owner.path);
  const need = `${path} needs a .prj file of the same name to declare ${crsName}`;
  return createError("usage", {
    reason:
      prj === undefined
        ? `${need}, but ${name} would be read with it, too; ${advice}`
        : `${prj}: belongs to ${name}, but ${need}; ${advice}`,
  });
}
