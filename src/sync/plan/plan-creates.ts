/** The creates of a plan, with the verbatim text of each feature, which is parsed only on demand. */
import { stringifyExactly } from "../../model/exact-json.js";
import type { RemoteKey } from "../../remote/wire.js";
import { parseAction } from "./parse-action.js";
import type { BaselineEntry, OpenPlan, PlanAction, PlannedFeature } from "./plan.js";

export type CreateAction = Extract<PlanAction, { readonly action: "create" }>;

export interface PlannedCreate {
  readonly key: RemoteKey | null;
  readonly agreement: BaselineEntry | null;
  /**
   * JSON of the feature to send, without an id, since the service assigns ids on POST (Map Features Service Interface,
   * 4.3).
   */
  readonly text: string;
  readonly action: CreateAction;
  /** Position, from 0, among all creates of the plan. */
  readonly ordinal: number;
}

/** Serializes a feature without its id. */
export const featureBody = ({ geometry, properties }: PlannedFeature): string =>
  stringifyExactly({ type: "Feature", geometry, properties });

/** All creates of a plan, in order; in groups, as they become available. */
export const readCreates = (plan: OpenPlan): AsyncIterable<readonly PlannedCreate[]> =>
  plan.creates?.() ?? parseCreates(plan);

async function* parseCreates(plan: OpenPlan): AsyncGenerator<readonly PlannedCreate[]> {
  let ordinal = 0;
  for await (const action of plan.actions(["create"])) {
    if (action.action !== "create") continue;
    const { key, agreement, feature } = action;
    yield [{ key, agreement, text: featureBody(feature), action, ordinal: ordinal++ }];
  }
}

const featurePrefix = ',"feature":';
const agreementPrefix = ',"agreement":';
const idPrefix = '{"type":"Feature","id":';

/**
 * Formats the plan line of a create. @param text JSON of the feature, possibly with another member order than it is
 * sent
 */
export const formatCreateLine = (key: RemoteKey | null, text: string, agreement: BaselineEntry | null): string =>
  `{"action":"create","key":${JSON.stringify(key)}${featurePrefix}${text}${agreementPrefix}${JSON.stringify(agreement)}}`;

/** A line written by `formatCreateLine`. */
export class CreateLine implements PlannedCreate {
  /** Offsets of the feature in the line. */
  private readonly featureStart: number;
  private readonly featureEnd: number;

  constructor(
    private readonly line: string,
    readonly ordinal: number,
  ) {
    // Unambiguous: a key is not an object, a baseline entry has no member of that name, and quotes within texts are
    // escaped.
    this.featureStart = line.indexOf(featurePrefix) + featurePrefix.length;
    this.featureEnd = line.lastIndexOf(agreementPrefix);
  }

  get key(): RemoteKey | null {
    const { length } = '{"action":"create","key":';
    return JSON.parse(this.line.slice(length, this.featureStart - featurePrefix.length)) as RemoteKey | null;
  }

  get agreement(): BaselineEntry | null {
    return JSON.parse(this.line.slice(this.featureEnd + agreementPrefix.length, -1)) as BaselineEntry | null;
  }

  get text(): string {
    return this.line.startsWith(idPrefix, this.featureStart)
      ? featureBody(this.action.feature)
      : this.line.slice(this.featureStart, this.featureEnd);
  }

  get action(): CreateAction {
    return parseAction(this.line) as CreateAction;
  }
}
