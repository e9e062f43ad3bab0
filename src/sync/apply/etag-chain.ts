/** Makes writes conditional on the map being unchanged since the plan's reading. */
import type { Condition, WriteOutcome } from "../../remote/client/map-client.js";

/** Returns strong entity tags only, since weak ones cannot be used in If-Match (RFC 9110, 13.1.1). */
export const strongEtag = (etag: string | null): string | null => (etag?.startsWith("W/") ? null : etag);

type ChainState =
  /** The service sends no tags, or the order of writes does not matter: there is no precondition. */
  | "off"
  | "on"
  /** A request had no conclusive response: nothing is sent until the map has been read again (`resume`). */
  | "unclear"
  /** Another writer changed the map: nothing more is sent. */
  | "lost";

/**
 * The chain of entity tags across the writes of a run. Each write carries If-Match (RFC 9110, 13.1.1) with the tag from
 * the response to the previous write, starting with the tag of the map as read. So no write of another client can occur
 * between the plan's reading and any write of the run. Since the next tag is known only with the response, writes run
 * one at a time.
 */
export class EtagChain {
  private state: ChainState = "off";
  private tag: string | null = null;
  private lastRequest: Promise<unknown> = Promise.resolve();
  /** Tags of the map before and between the writes of the run. */
  private readonly pastTags = new Set<string>();

  /** @param etag verbatim tag of the map from which the plan was made */
  constructor(etag: string | null) {
    this.setTag(etag);
  }

  get isUnclear(): boolean {
    return this.state === "unclear";
  }

  get isLost(): boolean {
    return this.state === "lost";
  }

  get isActive(): boolean {
    return this.state !== "off";
  }

  /** Tag of the map after the last write; null if unknown. */
  get etag(): string | null {
    return this.state === "on" ? this.tag : null;
  }

  /** Whether a reading with this tag shows the map as the last write left it; false if that tag is unknown. */
  isLast(etag: string | null): boolean {
    return this.etag !== null && strongEtag(etag) === this.etag;
  }

  /** Whether the map had this tag earlier in the run: then a reading shows it as it was, not as another client left it. */
  isPast(etag: string | null): boolean {
    return etag !== null && etag !== this.tag && this.pastTags.has(etag);
  }

  /** Records that another writer was detected. */
  markLost(): void {
    this.state = "lost";
  }

  /** Starts a chain if none is active: later writes depend on the reading with this tag. */
  startIfOff(etag: string | null): void {
    if (this.state === "off") this.setTag(etag);
  }

  /** Sends later writes without a precondition. */
  disable(): void {
    this.state = "off";
  }

  /** Continues after the map was read again, which settled the outcome of earlier writes. */
  resume(etag: string | null): void {
    if (this.state === "unclear") this.setTag(etag);
  }

  /**
   * Sends a write after all previous ones have a response. A write that may not be sent yet is returned as in doubt,
   * although nothing was sent: it is settled and sent again like others.
   */
  async send(request: (condition: Condition) => Promise<WriteOutcome>): Promise<WriteOutcome> {
    if (this.state === "off") return request({});
    const next = this.lastRequest.then(() => this.sendNow(request));
    this.lastRequest = next.catch(() => {});
    return next;
  }

  private async sendNow(request: (condition: Condition) => Promise<WriteOutcome>): Promise<WriteOutcome> {
    if (this.state === "off") return request({});
    if (this.state === "lost") return { kind: "changed" };
    if (this.state === "unclear")
      return { kind: "in-doubt", reason: "the previous request had no conclusive response", unsent: true };
    const outcome = await request({ ifMatch: this.tag });
    this.applyOutcome(outcome);
    return outcome;
  }

  private applyOutcome(outcome: WriteOutcome): void {
    if (outcome.kind === "changed") this.state = "lost";
    else if (outcome.kind === "in-doubt") this.state = "unclear";
    else if (outcome.kind !== "answered") return;
    // A replayed response may contain an outdated tag.
    else if (outcome.replayed) this.state = "unclear";
    // Without failures, the map has changed, even if the response has neither ids nor a tag.
    else if (outcome.etag !== null || outcome.success.length > 0 || outcome.failed.length === 0)
      this.setTag(outcome.etag);
  }

  /** Makes the next write conditional on this tag; without a strong tag, unconditional. */
  private setTag(etag: string | null): void {
    this.tag = strongEtag(etag);
    if (this.tag !== null) this.pastTags.add(this.tag);
    this.state = this.tag === null ? "off" : "on";
  }
}
