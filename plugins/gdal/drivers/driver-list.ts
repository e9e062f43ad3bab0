import type { Gdal } from "../process/library.js";
import type { DriverCatalog, DriverInfo } from "../process/protocol.js";

const splitWords = (text: string | undefined): string[] => (text ?? "").split(" ").filter((word) => word !== "");

/** The vector drivers of the loaded GDAL, in detection order. */
export function listDrivers(gdal: Gdal): DriverCatalog {
  const drivers: DriverInfo[] = [];
  gdal.drivers.forEach((driver) => {
    const facts = driver.getMetadata() as Readonly<Record<string, string>>;
    if (facts.DCAP_VECTOR !== "YES" || drivers.some(({ name }) => name === driver.description)) return;
    const isMixed = facts.DCAP_RASTER === "YES";
    drivers.push({
      name: driver.description,
      label: facts.DMD_LONGNAME ?? driver.description,
      extensions: splitWords(facts.DMD_EXTENSIONS ?? facts.DMD_EXTENSION),
      reads: facts.DCAP_OPEN === "YES",
      writes: facts.DCAP_CREATE === "YES" && (!isMixed || facts.DCAP_CREATE_LAYER === "YES"),
      layers: facts.DCAP_MULTIPLE_VECTOR_LAYERS === "YES",
      z: facts.DCAP_Z_GEOMETRIES === "YES",
      m: facts.DCAP_MEASURED_GEOMETRIES === "YES",
      fieldTypes: splitWords(facts.DMD_CREATIONFIELDDATATYPES),
      fieldSubtypes: splitWords(facts.DMD_CREATIONFIELDDATASUBTYPES),
      openOptions: facts.DMD_OPENOPTIONLIST ?? "",
      datasetOptions: facts.DMD_CREATIONOPTIONLIST ?? "",
      layerOptions: facts.DS_LAYER_CREATIONOPTIONLIST ?? "",
    });
  });
  return { version: gdal.version, drivers };
}
