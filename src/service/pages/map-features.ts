/** The features of a map for the script that draws it. */
import { badRequest, notFound } from "./faults.js";
import { readableMap } from "./map-access.js";
import type { Data, VisitOfMember } from "./visit.js";

/** As many at once: fewer answers than the API's pages would take. */
const featuresAtOnce = 1000;

/** `{"type":"FeatureCollection","features":[…],"last":…,"more":…}`, of those behind `after`, which was `last`. */
export async function mapFeatures(visit: VisitOfMember): Promise<Data> {
  const map = await readableMap(visit);
  const after = visit.query.get("after");
  if (after !== null && !/^\d{1,15}$/.test(after)) throw badRequest("The place to go on behind is not a number.");
  const start = after === null ? { page: 1 } : { after: Number(after) };
  const page = await visit.site.store.page({ map: map.id, size: featuresAtOnce, ...start });
  if (page === null) throw notFound();
  const tail = `],"last":${page.last},"more":${page.more}}`;
  const bytes = Buffer.concat([Buffer.from('{"type":"FeatureCollection","features":['), page.text, Buffer.from(tail)]);
  return { kind: "data", bytes };
}
