/** Finds projection methods by code or by one of their names. */
import type { ProjectionMethod } from "./method.js";
import { type MethodId, projectionMethods } from "./methods.js";
import { normalizeName } from "./normalize-name.js";

/** By EPSG's method code. */
export function findMethodByCode(code: string): MethodId | null {
  for (const [id, entry] of Object.entries(projectionMethods)) if (`${entry.epsg}` === code) return id as MethodId;
  return null;
}

const methodAliases: Readonly<Record<string, MethodId>> = {
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

const methodsByName = new Map<string, MethodId>(Object.entries(methodAliases));
for (const [id, entry] of Object.entries(projectionMethods) as [MethodId, ProjectionMethod][]) {
  for (const name of [entry.wkt2, entry.wkt1, entry.esri]) {
    // Lambert_Conformal_Conic, Mercator, Polar_Stereographic and Krovak are distinguished by their parameters.
    if (name !== null && !methodsByName.has(normalizeName(name))) methodsByName.set(normalizeName(name), id);
  }
}

export const findMethodByName = (name: string): MethodId | null => methodsByName.get(normalizeName(name)) ?? null;
