/** The features of a map for the script that draws it. */
import type { Tail } from "../features/page-bodies.js";
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
  const question = { map: map.id, size: featuresAtOnce, ...start };
  const page = await visit.site.bodies.read(question, visit.visitor.account, "GET", tail);
  if (page === null) throw notFound();
  return { kind: "data", page };
}

const tail: Tail = ({ last, more }) => Buffer.from(`],"last":${last},"more":${more}}`);
