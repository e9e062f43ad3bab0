import { formatCount } from "../format-count.js";
import { defineError } from "./define-error.js";

/** Something that came back otherwise than it was written and that no loss explains. */
export interface VerifiedDifference {
  readonly kind:
    | "value"
    | "geometry"
    | "id"
    | "type"
    | "field-missing"
    | "feature-missing"
    | "feature-added"
    | "order"
    | "crs"
    | "layer-missing"
    | "unreadable"
    | "fit";
  readonly layer: string;
  /** Position of the feature in the layer, from 1; null if it concerns the layer. */
  readonly feature: number | null;
  readonly field: string | null;
  readonly written: string;
  readonly read: string;
}

const kindNames: Readonly<Record<VerifiedDifference["kind"], string>> = {
  value: "",
  geometry: "geometry",
  id: "feature id",
  type: "type of",
  "field-missing": "",
  "feature-missing": "",
  "feature-added": "",
  order: "",
  crs: "reference system",
  "layer-missing": "",
  unreadable: "",
  fit: "",
};

/** "roads, feature 12, field name: written "Müller", read "M?ller"" */
export function describeVerified({ kind, layer, feature, field, written, read }: VerifiedDifference): string {
  const subject = field === null ? kindNames[kind] : `${kindNames[kind]} field ${field}`.trim();
  const place = [`layer ${layer}`, ...(feature === null ? [] : [`feature ${feature}`]), ...(subject ? [subject] : [])];
  if (kind === "fit") return `${place.join(", ")}: read ${read} from the input, passed ${written} to the writer`;
  return `${place.join(", ")}: written ${written}, read back ${read}`;
}

/** Differences that the message names. */
const maxShown = 10;

export const verifyErrors = {
  /** `differences`: the first ones of `count`. */
  "verify-failed": defineError<{ output: string; count: number; differences: readonly VerifiedDifference[] }>(
    "output",
    ({ output, count, differences }) =>
      `${output}: --verify found ${formatCount(count, "difference")} between what was written and what was read back, which no reported loss explains; nothing was written: ${differences.slice(0, maxShown).map(describeVerified).join("; ")}${count > maxShown ? "; …" : ""}`,
  ),
} as const;
