/** What a plan creates, with the text of each feature carried through as it is: parsed only where somebody looks into it. */
import type { RemoteKey } from "../../remote/wire.js";
import type { BaselineEntry, OpenPlan, PlanAction, PlannedFeature } from "./plan.js";

export type CreateAction = Extract<PlanAction, { readonly action: "create" }>;

export interface PlannedCreate {
  readonly key: RemoteKey | null;
  readonly agreement: BaselineEntry | null;
  /** JSON of the feature as it is sent: POST takes no ids, the service gives them (Map Features Service Interface, 4.3). */
  readonly text: string;
  readonly action: CreateAction;
  /** Counted from 0 among all that the plan creates. */
  readonly ordinal: number;
}

/** JSON of a feature without its id. */
export const featureBody = ({ geometry, properties }: PlannedFeature): string =>
  JSON.stringify({ type: "Feature", geometry, properties });

/** All that a plan creates, in its order; as many together as are at hand. */
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

/** A line of a plan that creates a feature. @param text JSON of the feature; it may stand in another order than it is sent */
export const formatCreateLine = (key: RemoteKey | null, text: string, agreement: BaselineEntry | null): string =>
  `{"action":"create","key":${JSON.stringify(key)}${featurePrefix}${text}${agreementPrefix}${JSON.stringify(agreement)}}`;

/** A line that `createLine` made. */
export class CreateLine implements PlannedCreate {
  /** Where the feature begins and ends. */
  private readonly featureStart: number;
  private readonly featureEnd: number;

  constructor(
    private readonly line: string,
    readonly ordinal: number,
  ) {
    // A key is no object, and an agreement has no member of that name: in a text, quotes are escaped.
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
    return JSON.parse(this.line) as CreateAction;
  }
}
