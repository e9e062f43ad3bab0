/** The method that a definition names, by code or by one of the names in circulation. */
import type { Method } from "./method.js";
import { type MethodId, methods } from "./methods.js";
import { plain } from "./plain-name.js";

/** By EPSG's method code. */
export function methodByCode(code: string): MethodId | null {
  for (const [id, entry] of Object.entries(methods)) if (`${entry.epsg}` === code) return id as MethodId;
  return null;
}

const synonyms: Readonly<Record<string, MethodId>> = {
  gausskruger: "transverse-mercator",
  transversemercator3d: "transverse-mercator",
  transversemercatorcomplex: "transverse-mercator",
  lambertconformalconic1sp: "lambert-conic-1sp",
  lambertconformalconic2sp: "lambert-conic-2sp",
  lambertconformalconic2spmichigan: "lambert-conic-michigan",
  lambertconicconformalwestorientated: "lambert-conic-west",
  albers: "albers",
  mercator1spspherical: "mercator-a",
  swissobliquecylindrical: "oblique-mercator-b",
  hotineobliquemercatorvarianta: "oblique-mercator-a",
  hotineobliquemercatorvariantb: "oblique-mercator-b",
  obliquemercator: "oblique-mercator-b",
  rectifiedskeworthomorphicnaturalorigin: "oblique-mercator-a",
  rectifiedskeworthomorphiccenter: "oblique-mercator-b",
  stereographicnorthpole: "polar-stereographic-b",
  stereographicsouthpole: "polar-stereographic-b",
  equidistantcylindrical: "equidistant-cylindrical",
  behrmann: "equal-area-cylindrical",
  lambertcylindricalequalareaellipsoidalcase: "equal-area-cylindrical",
  goodehomolosine: "goode-land",
  hammer: "hammer",
  vandergrinteni: "van-der-grinten",
  vandergrinten: "van-der-grinten",
};

const byName = new Map<string, MethodId>(Object.entries(synonyms));
for (const [id, entry] of Object.entries(methods) as [MethodId, Method][]) {
  for (const name of [entry.wkt2, entry.wkt1, entry.esri]) {
    // Lambert_Conformal_Conic, Mercator, Polar_Stereographic and Krovak are told apart by their parameters.
    if (name !== null && !byName.has(plain(name))) byName.set(plain(name), id);
  }
}

export const methodByName = (name: string): MethodId | null => byName.get(plain(name)) ?? null;
