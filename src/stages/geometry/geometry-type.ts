import { createError } from "../../errors.js";
import type { Batch } from "../../model/batch.js";
import { Kind } from "../../model/geometry.js";
import { keepRows } from "../rows.js";
import { type StageSettings, textSetting } from "../settings.js";
import type { Stage, StageContext } from "../stage.js";

export interface GeometryTypeSettings {
  /**
   * - `point`, `line`, `polygon`: keep the features whose geometry is of that family, single or multi;
   * - `multi`: keep all, and make single geometries multi ones, so that a layer has one type;
   * - `multipoint`, `multiline`, `multipolygon`: both.
   *
   * Case is ignored; `linestring` means `line`. Geometries are not split or constructed: features that are left out (other
   * families, collections, features without geometry) are counted in the notice `geometry-type-left-out`.
   */
  readonly type: string;
}

interface GeometryTypeFilter {
  /** The single kind of the family; null for all. */
  readonly singleKind: number | null;
  readonly toMulti: boolean;
}

const geometryTypePattern = /^(multi)?(point|line|linestring|polygon)?$/;
const singleKinds: Readonly<Record<string, number>> = {
  point: Kind.Point,
  line: Kind.LineString,
  linestring: Kind.LineString,
  polygon: Kind.Polygon,
};
const familyNames = ["", "points", "lines", "polygons"];

/** A multi kind's number is that of its single kind and three. */
const multiKindOffset = Kind.MultiPoint - Kind.Point;

const isSingle = (kind: number): boolean => kind >= Kind.Point && kind <= Kind.Polygon;

/** @throws option-invalid */
export function parseGeometryType(text: string): GeometryTypeFilter {
  const match = geometryTypePattern.exec(text.trim().toLowerCase());
  if (!match || (!match[1] && !match[2])) {
    const expected = "one of point, line, polygon, multi, multipoint, multiline, multipolygon";
    throw createError("option-invalid", { option: "--geometry-type", value: text, expected });
  }
  return { singleKind: match[2] ? singleKinds[match[2]]! : null, toMulti: match[1] !== undefined };
}

export function build(settings: StageSettings, context: StageContext): Stage {
  const { singleKind, toMulti } = parseGeometryType(textSetting(settings, "type"));

  const ofFamily = (batch: Batch): Batch => {
    if (singleKind === null) return batch;
    const { kinds } = batch.geometry;
    const kept = keepRows(
      batch,
      Uint8Array.from(kinds, (kind) => Number(kind === singleKind || kind === singleKind + multiKindOffset)),
    );
    const leftOut = batch.length - kept.length;
    if (leftOut > 0) {
      const example = `features whose geometry is not ${familyNames[singleKind]} were left out, as --geometry-type asks`;
      context.reportNotice("geometry-type-left-out", undefined, example, leftOut);
    }
    return kept;
  };

  return {
    apply(batch: Batch): Batch {
      const kept = ofFamily(batch);
      if (!toMulti || !kept.geometry.kinds.some(isSingle)) return kept;
      // The packed layout of a single geometry is that of a multi geometry of one.
      const kinds = kept.geometry.kinds.map((kind) => (isSingle(kind) ? kind + multiKindOffset : kind));
      return kept.with({ geometry: { ...kept.geometry, kinds } });
    },
  };
}
