import type { Gdal } from "./library.js";
import type { Catalogue, DriverFacts } from "./protocol.js";

const words = (text: string | undefined): string[] => (text ?? "").split(" ").filter((word) => word !== "");

/** The vector drivers of the GDAL that is loaded, in the order in which it tries them. */
export function catalogueOf(gdal: Gdal): Catalogue {
  const drivers: DriverFacts[] = [];
  gdal.drivers.forEach((driver) => {
    const facts = driver.getMetadata() as Readonly<Record<string, string>>;
    if (facts.DCAP_VECTOR !== "YES" || drivers.some(({ name }) => name === driver.description)) return;
    const isMixed = facts.DCAP_RASTER === "YES";
    drivers.push({
      name: driver.description,
      label: facts.DMD_LONGNAME ?? driver.description,
      extensions: words(facts.DMD_EXTENSIONS ?? facts.DMD_EXTENSION),
      reads: facts.DCAP_OPEN === "YES",
      writes: facts.DCAP_CREATE === "YES" && (!isMixed || facts.DCAP_CREATE_LAYER === "YES"),
      layers: facts.DCAP_MULTIPLE_VECTOR_LAYERS === "YES",
      z: facts.DCAP_Z_GEOMETRIES === "YES",
      m: facts.DCAP_MEASURED_GEOMETRIES === "YES",
      fieldTypes: words(facts.DMD_CREATIONFIELDDATATYPES),
      fieldSubtypes: words(facts.DMD_CREATIONFIELDDATASUBTYPES),
      openOptions: facts.DMD_OPENOPTIONLIST ?? "",
      datasetOptions: facts.DMD_CREATIONOPTIONLIST ?? "",
      layerOptions: facts.DS_LAYER_CREATIONOPTIONLIST ?? "",
    });
  });
  return { version: gdal.version, drivers };
}
