/** The features of a map, as JSON for the script that draws it. */
import type { PageSuffix } from "../../features/page-bodies.js";
import type { FeatureData, SignedInContext } from "../page-context.js";
import { invalidPageRequest, pageNotFound } from "../rendering/error-page.js";
import { findReadableMap } from "./map-access.js";

/** Larger than pages of the API, to need fewer requests. */
const featuresPerRequest = 1000;

/** `{"type":"FeatureCollection","features":[…],"last":…,"more":…}`; `after` is `last` of the previous page. */
export async function readMapFeatures(context: SignedInContext): Promise<FeatureData> {
  const map = await findReadableMap(context);
  const after = context.query.get("after");
  if (after !== null && !/^\d{1,15}$/.test(after)) throw invalidPageRequest("The parameter after is not a number.");
  const start = after === null ? { page: 1 } : { after: Number(after) };
  const question = { map: map.id, size: featuresPerRequest, ...start };
  const page = await context.services.bodies.read(question, context.user.account, "GET", pageSuffix);
  if (page === null) throw pageNotFound();
  return { kind: "data", page };
}

const pageSuffix: PageSuffix = ({ last, more }) => Buffer.from(`],"last":${last},"more":${more}}`);
