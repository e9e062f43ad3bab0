/** The features of a map for the script that draws it. */
import type { PageSuffix } from "../../features/page-bodies.js";
import type { FeatureData, SignedInContext } from "../page-context.js";
import { invalidPageRequest, pageNotFound } from "../rendering/error-page.js";
import { findReadableMap } from "./map-access.js";

/** As many at once: fewer answers than the API's pages would take. */
const featuresPerRequest = 1000;

/** `{"type":"FeatureCollection","features":[…],"last":…,"more":…}`, of those behind `after`, which was `last`. */
export async function readMapFeatures(visit: SignedInContext): Promise<FeatureData> {
  const map = await findReadableMap(visit);
  const after = visit.query.get("after");
  if (after !== null && !/^\d{1,15}$/.test(after))
    throw invalidPageRequest("The place to go on behind is not a number.");
  const start = after === null ? { page: 1 } : { after: Number(after) };
  const question = { map: map.id, size: featuresPerRequest, ...start };
  const page = await visit.site.bodies.read(question, visit.visitor.account, "GET", pageSuffix);
  if (page === null) throw pageNotFound();
  return { kind: "data", page };
}

const pageSuffix: PageSuffix = ({ last, more }) => Buffer.from(`],"last":${last},"more":${more}}`);
