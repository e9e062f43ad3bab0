import { defineFormat, type Format } from "../../src/plugin/index.js";
import { findDriver, loadCatalog } from "./drivers/catalog.js";
import { createFormat } from "./drivers/driver-format.js";
import { knownDrivers } from "./drivers/known-drivers.js";
import { readOptions } from "./drivers/option-tables.js";
import type { DriverInfo } from "./process/protocol.js";

const knownFormats: readonly Format[] = knownDrivers.map((driver) =>
  createFormat({ ...driver, reads: driver.driver !== "PGDUMP" }),
);

const matchesName = (name: string) => (format: Format) => format.id.toLowerCase() === `gdal:${name}`.toLowerCase();

/** A driver outside the built-in list, as described by GDAL. */
function createDriverFormat({ name, label, extensions, reads, writes }: DriverInfo): Format {
  const own = knownDrivers.find(({ driver }) => driver === name);
  const sketch = own ?? { driver: name, label, extensions: extensions.map((each) => each.toLowerCase()) };
  return createFormat({ ...sketch, reads, ...(writes ? { writes } : {}) });
}

function findMember(name: string): Format {
  return knownFormats.find(matchesName(name)) ?? createDriverFormat(findDriver(name));
}

function listMembers(): { readonly formats: readonly Format[]; readonly unavailable: string | null } {
  const catalogue = loadCatalog();
  if ("unavailable" in catalogue) return { formats: [], unavailable: catalogue.unavailable };
  const drivers = catalogue.drivers.filter(({ reads, writes }) => reads || writes);
  return { formats: drivers.map(createDriverFormat), unavailable: null };
}

/** All formats of the installed GDAL (gdal.org): one per driver, and this one, for which GDAL detects the driver. */
const gdal = defineFormat({
  apiVersion: 1,
  id: "gdal",
  label: "Whatever GDAL reads; gdal:DRIVER for one of its drivers",
  extensions: [],
  identify: () => "no",
  family: { find: findMember, list: listMembers },
  reader: { options: readOptions, load: async () => (await import("./reader.js")).createReader(null) },
});

export default [gdal, ...knownFormats];
