/** Counts what is reported of the features of a split. */
import type { ReadContext } from "../../../src/plugin/format.js";
import { CountedReports } from "../../shared/tracks/counted-reports.js";

const noticeMessages = {
  "segment-empty": "a track without positions was left out",
  "line-of-one-point": "a lap or course of a single point became a point",
} as const;
const lossMessages = {
  "point-without-place":
    "a trackpoint without a latitude and longitude that are numbers was left out, as others of its lap or course have them",
  "degenerate-part": "a track of one point beside others was left out; only TCX and GPX can hold it",
  "height-invalid": "an AltitudeMeters that is not a number was left out",
  "text-left-out":
    "text in a feature between its elements, where TCX does not allow it, was left out: a tag may be damaged there",
  "extension-left-out": "values of more than 2,048 kinds, or coordinates given twice, were left out",
} as const;

export class FeatureReports extends CountedReports<keyof typeof noticeMessages, keyof typeof lossMessages> {
  constructor(context: Pick<ReadContext, "reportLoss" | "reportNotice">) {
    super(context, noticeMessages, lossMessages);
  }
}
