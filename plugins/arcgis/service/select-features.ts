/** What a service selects for a filter: only what it was seen to select correctly for one of its features. */
import type { Extent, Geometry, SplitCondition, SplitFilter } from "../../../src/model/index.js";
import { integerOf, isObject, type Json, objectsOf } from "../../shared/json/values.js";
import {
  boxAcross,
  chooseBox,
  comparesNumbers,
  extentOf,
  orderedFields,
  probedFeatures,
  widen,
} from "../../shared/selection-probes.js";
import type { ServiceLayer } from "./layer-list.js";
import { toObjectId } from "./layer-state.js";
import { boxSelection, everything, type Selection, sentConditions, whereOf } from "./query-filter.js";
import { RequestRefused, type ServiceClient } from "./service-client.js";

/** All that the filter says, or the part of it that the service applies correctly. */
export async function selectFeatures(
  client: ServiceClient,
  layer: ServiceLayer,
  filter: SplitFilter | undefined,
): Promise<Selection> {
  if (!filter) return everything;
  const questions = new Questions(client, layer);
  const where = await selectWhere(questions, layer, filter.conditions);
  const base: Selection = { where };
  const isPlace = layer.plan.geometryTypes === null || layer.plan.geometryTypes.length > 0;
  const boxes = isPlace ? (filter.boxes ?? []) : [];
  if (boxes.length === 0 || !(await questions.isBoxApplied())) return base;
  const box = await chooseBox(boxes, (each) => questions.count(boxSelection(where, each)));
  return box === null ? base : boxSelection(where, box);
}

/** The conditions that the service applies correctly; all features if it refuses them, or compares numbers as texts. */
async function selectWhere(
  questions: Questions,
  layer: ServiceLayer,
  conditions: readonly SplitCondition[],
): Promise<string> {
  const plans = layer.plan.fields?.fields ?? [];
  const where = whereOf(plans, conditions);
  if (where === everything.where || (await questions.count({ where })) === null) return everything.where;
  const fields = orderedFields(sentConditions(plans, conditions));
  if (fields.length === 0) return where;
  const values = (await questions.features()).map(({ attributes }) => {
    const own = isObject(attributes) ? attributes : {};
    return Object.fromEntries(plans.map(({ field, attribute }) => [field.name, own[attribute]]));
  });
  const isOrdered = await comparesNumbers(fields, values, (probe) => questions.count({ where: whereOf(plans, probe) }));
  return isOrdered ? where : everything.where;
}

/** Questions about some features of a layer. */
class Questions {
  private some: Promise<readonly Json[]> | undefined;

  constructor(
    private readonly client: ServiceClient,
    private readonly layer: ServiceLayer,
  ) {}

  /** The number of selected features; null if the service cannot apply the selection. */
  async count(selection: Selection): Promise<number | null> {
    return integerOf((await this.ask({ ...selection, returnCountOnly: "true" }))?.count);
  }

  /** Some features of the layer, as Esri JSON. */
  features(): Promise<readonly Json[]> {
    this.some ??= this.readFeatures();
    return this.some;
  }

  /** Whether boxes around and across a feature select it. */
  async isBoxApplied(): Promise<boolean> {
    const { idField } = this.layer;
    if (idField === null) return false;
    for (const { attributes, geometry } of await this.features()) {
      const id = isObject(attributes) ? toObjectId(attributes[idField]) : null;
      const positions = id === null || !isObject(geometry) ? null : positionsOf(geometry);
      if (!positions) continue;
      const boxes = [widen(extentOf(positions)), boxAcross(positions)];
      for (const box of boxes) if (box && !(await this.isSelected(box, id!))) return false;
      return true;
    }
    return false;
  }

  private async isSelected(box: Extent, id: number): Promise<boolean> {
    const answer = await this.ask({ ...boxSelection(everything.where, box), returnIdsOnly: "true" });
    return Array.isArray(answer?.objectIds) && answer.objectIds.some((each) => toObjectId(each) === id);
  }

  private async readFeatures(): Promise<readonly Json[]> {
    const { layer } = this;
    const all = { outFields: "*", returnGeometry: "true" };
    if (layer.supportsPagination)
      return objectsOf(
        (await this.ask({ ...everything, ...all, resultRecordCount: String(probedFeatures) }))?.features,
      );
    const listed = (await this.ask({ ...everything, returnIdsOnly: "true" }))?.objectIds;
    if (!Array.isArray(listed) || listed.length === 0) return [];
    const objectIds = listed.slice(0, probedFeatures).join(",");
    return objectsOf((await this.ask({ objectIds, ...all }))?.features);
  }

  /** Null if the service refuses the request. */
  private async ask(parameters: Readonly<Record<string, string>>): Promise<Json | null> {
    try {
      return await this.client.query(`/${this.layer.id}/query`, parameters);
    } catch (error) {
      if (error instanceof RequestRefused) return null;
      throw error;
    }
  }
}

/** The positions of a geometry without curves; null if there are none. */
function positionsOf({ x, y, points, paths, rings }: Json): Geometry | null {
  const parts: unknown[] = [paths, rings].flatMap((each) => (Array.isArray(each) ? each : []));
  const listed = [points, ...parts].flatMap((each) => (Array.isArray(each) ? each : []));
  const all = typeof x === "number" ? [[x, y]] : listed;
  const isPosition = (each: unknown): each is [number, number] =>
    Array.isArray(each) && Number.isFinite(each[0]) && Number.isFinite(each[1]);
  const coordinates = all.filter(isPosition);
  return coordinates.length > 0 && coordinates.length === all.length ? { type: "MultiPoint", coordinates } : null;
}
