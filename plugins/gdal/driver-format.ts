import type { Format, Likeness, OptionTable } from "../../src/plugin/index.js";
import { acceptsOf } from "./accepts.js";
import { driverFacts } from "./catalogue.js";
import { folderDrivers, type KnownDriver } from "./known-drivers.js";
import { readTable, writeTable } from "./option-tables.js";

/** What a format of GDAL is made of: what is known of a driver without asking GDAL, or what GDAL says. */
export interface DriverSketch extends KnownDriver {
  readonly reads: boolean;
}

/** "PK": zips, which workbooks are. */
const isZip = (head: Buffer): boolean => head.length > 3 && head.readUInt32LE(0) === 0x04034b50;
const workbooks = new Set(["XLSX", "ODS"]);

function identifyAs({ driver, extensions, folders, zips, signature }: DriverSketch) {
  return (head: Buffer, { name }: { readonly name: string }): Likeness => {
    const path = name.toLowerCase().replace(/[/\\]+$/, "");
    const isOf = (all: readonly string[] = []) => all.some((extension) => path.endsWith(`.${extension}`));
    const fits = isOf(extensions);
    if (isZip(head) && isOf(zips)) return "yes";
    if (folders) return isOf(folders) && head.length === 0 ? "yes" : "no";
    if (workbooks.has(driver)) return fits && isZip(head) ? "yes" : "no";
    if (signature) return signature(head) ? "yes" : "no";
    return fits && !isZip(head) && head.length > 0 ? "maybe" : "no";
  };
}

/**
 * A driver of GDAL as a format. Its options are GDAL's own: they are asked for when they are needed, since that takes a
 * process. @throws unsupported (from its members) where GDAL or the driver is not there
 */
export function formatOf(sketch: DriverSketch): Format {
  const { driver, label, extensions, companions, folders, reads, writes } = sketch;
  const ofFolders = folders ?? (folderDrivers.has(driver) ? [] : undefined);
  return {
    apiVersion: 1,
    id: `gdal:${driver}`,
    label,
    extensions,
    ...(companions ? { companions } : {}),
    ...(ofFolders ? { folders: ofFolders } : {}),
    identify: identifyAs(sketch),
    ...(reads
      ? {
          reader: {
            get options(): OptionTable {
              return readTable(driverFacts(driver));
            },
            load: async () => (await import("./reader.js")).readerOf(driver),
          },
        }
      : {}),
    ...(writes
      ? {
          writer: {
            get options(): OptionTable {
              return writeTable(driverFacts(driver));
            },
            accepts: () => acceptsOf(driverFacts(driver)),
            load: async () => (await import("./writer.js")).writerOf(driver),
          },
        }
      : {}),
  } as Format;
}
