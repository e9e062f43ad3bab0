import type { Confidence, Format, OptionTable } from "../../../src/plugin/index.js";
import { writerCapabilities } from "./capabilities.js";
import { findDriver } from "./catalog.js";
import { folderDrivers, type KnownDriver } from "./known-drivers.js";
import { createReadOptions, createWriteOptions } from "./option-tables.js";

/** A driver: from the built-in list, or as described by GDAL. */
export interface DriverDescription extends KnownDriver {
  readonly reads: boolean;
}

/** Zip signature: workbooks are zips. */
const isZip = (head: Buffer): boolean => head.length > 3 && head.readUInt32LE(0) === 0x04034b50;
const workbookDrivers = new Set(["XLSX", "ODS"]);

function createIdentify({ driver, extensions, folders, zips, signature }: DriverDescription) {
  return (head: Buffer, { name }: { readonly name: string }): Confidence => {
    const path = name.toLowerCase().replace(/[/\\]+$/, "");
    const isOf = (all: readonly string[] = []) => all.some((extension) => path.endsWith(`.${extension}`));
    const fits = isOf(extensions);
    if (isZip(head) && isOf(zips)) return "yes";
    if (folders) return isOf(folders) && head.length === 0 ? "yes" : "no";
    if (workbookDrivers.has(driver)) return fits && isZip(head) ? "yes" : "no";
    if (signature) return signature(head) ? "yes" : "no";
    return fits && !isZip(head) && head.length > 0 ? "maybe" : "no";
  };
}

/**
 * Creates the format of a GDAL driver. Its options come from GDAL, on demand, because that starts a process. Members
 * throw unsupported if GDAL or the driver is not available.
 */
export function createFormat(sketch: DriverDescription): Format {
  const { driver, label, extensions, companions: companionExtensions, folders, reads, writes } = sketch;
  const ofFolders = folders ?? (folderDrivers.has(driver) ? [] : undefined);
  return {
    apiVersion: 1,
    id: `gdal:${driver}`,
    label,
    extensions,
    ...(companionExtensions ? { companionExtensions } : {}),
    ...(ofFolders ? { folderExtensions: ofFolders } : {}),
    identify: createIdentify(sketch),
    ...(reads
      ? {
          reader: {
            get options(): OptionTable {
              return createReadOptions(findDriver(driver));
            },
            load: async () => (await import("../reader.js")).createReader(driver),
          },
        }
      : {}),
    ...(writes
      ? {
          writer: {
            get options(): OptionTable {
              return createWriteOptions(findDriver(driver));
            },
            capabilities: () => writerCapabilities(findDriver(driver)),
            load: async () => (await import("../writer.js")).createWriter(driver),
          },
        }
      : {}),
  } as Format;
}
