/** Counts what is reported of the features of a split. */
import type { ReadContext } from "../../../src/plugin/format.js";
import { CountedReports } from "../../shared/tracks/counted-reports.js";

const noticeMessages = {
  "segment-empty": "a track segment without points was left out",
  "line-of-one-point": "a route or track of a single point became a point",
  "route-shape":
    "positions that Garmin's devices put between the points of a route (gpxx:rpt) are values of the points before them; --in routeShape=yes reads them into the line",
} as const;
const lossMessages = {
  "point-without-place": "a point of a line whose lat or lon is missing or not a number was left out",
  "degenerate-part": "a track segment of one point beside others was left out; only GPX can hold it",
  "height-invalid": "an ele that is not a number was left out",
  "extension-left-out": "extensions of a track segment that did not become a line were left out",
  "text-left-out":
    "text in a feature between its elements, where GPX does not allow it, was left out: a tag may be damaged there",
} as const;

export class FeatureReports extends CountedReports<keyof typeof noticeMessages, keyof typeof lossMessages> {
  constructor(context: Pick<ReadContext, "reportLoss" | "reportNotice">) {
    super(context, noticeMessages, lossMessages);
  }
}
