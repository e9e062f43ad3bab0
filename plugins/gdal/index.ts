import { defineFormat, type Format } from "../../src/plugin/index.js";
import { askCatalogue, driverFacts, howToGet } from "./catalogue.js";
import { formatOf } from "./driver-format.js";
import { knownDrivers } from "./known-drivers.js";
import { readOptions } from "./option-tables.js";
import type { DriverFacts } from "./protocol.js";

const known: readonly Format[] = knownDrivers.map((driver) =>
  formatOf({ ...driver, reads: driver.driver !== "PGDUMP" }),
);

const isOf = (name: string) => (format: Format) => format.id.toLowerCase() === `gdal:${name}`.toLowerCase();

/** A driver that files are not recognised for: what GDAL says of it. */
function formatOfFacts({ name, label, extensions, reads, writes }: DriverFacts): Format {
  const own = knownDrivers.find(({ driver }) => driver === name);
  const sketch = own ?? { driver: name, label, extensions: extensions.map((each) => each.toLowerCase()) };
  return formatOf({ ...sketch, reads, ...(writes ? { writes } : {}) });
}

function member(name: string): Format {
  return known.find(isOf(name)) ?? formatOfFacts(driverFacts(name));
}

function list(): { readonly formats: readonly Format[]; readonly missing: string | null } {
  const catalogue = askCatalogue();
  if ("missing" in catalogue) return { formats: [], missing: `${howToGet}; ${catalogue.missing}` };
  const drivers = catalogue.drivers.filter(({ reads, writes }) => reads || writes);
  return { formats: drivers.map(formatOfFacts), missing: null };
}

/** Whatever the installed GDAL (gdal.org) reads: one format a driver, and this one for a driver that GDAL finds itself. */
const gdal = defineFormat({
  apiVersion: 1,
  id: "gdal",
  label: "Whatever GDAL reads; gdal:DRIVER for one of its drivers",
  extensions: [],
  identify: () => "no",
  family: { member, list },
  reader: { options: readOptions, load: async () => (await import("./reader.js")).readerOf(null) },
});

export default [gdal, ...known];
