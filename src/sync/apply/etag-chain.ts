/** Writes under the condition that nobody else has written since the map was read that the plan was made from. */
import type { Condition, WriteOutcome } from "../../remote/client/map-client.js";

/** A strong entity tag, which alone a condition can be made of (RFC 9110, 13.1.1). */
export const strongEtag = (etag: string | null): string | null => (etag?.startsWith("W/") ? null : etag);

type ChainState =
  /** The service gives no tags, or the order of writes does not matter: there is no condition. */
  | "off"
  | "on"
  /** A request had no clear answer: nothing is sent until the map has been read again (`resume`). */
  | "unclear"
  /** Another writer was faster: nothing is sent any more. */
  | "lost";

/**
 * The entity tags of a map from one write of a run to the next: each goes out with If-Match (RFC 9110, 13.1.1) and the
 * tag that the answer to the one before gave, beginning with that of the map as it was read. So no write of another
 * client can come between the reading that the plan was made from and any write of the run. As the next tag is known
 * with the answer, writes go one after the other.
 */
export class EtagChain {
  private state: ChainState = "off";
  private tag: string | null = null;
  private lastRequest: Promise<unknown> = Promise.resolve();

  /** @param etag of the map that the plan was made from, as the service wrote it */
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

  /** Of the map after the last write; null where that is not known. */
  get etag(): string | null {
    return this.state === "on" ? this.tag : null;
  }

  /** Another writer was seen to be at work. */
  markLost(): void {
    this.state = "lost";
  }

  /** A new chain, where there is none: what is written from here on rests on a reading that had this tag. */
  startIfOff(etag: string | null): void {
    if (this.state === "off") this.setTag(etag);
  }

  /** From here on there is no condition. */
  disable(): void {
    this.state = "off";
  }

  /** The map was read again, and says what became of what was sent. */
  resume(etag: string | null): void {
    if (this.state === "unclear") this.setTag(etag);
  }

  /**
   * Sends a write when all before it are answered. One that may not be sent yet is in doubt, although nothing was sent:
   * it is to be settled and sent again as others are.
   */
  async send(request: (condition: Condition) => Promise<WriteOutcome>): Promise<WriteOutcome> {
    if (this.state === "off") return request({});
    const turn = this.lastRequest.then(() => this.sendNow(request));
    this.lastRequest = turn.catch(() => {});
    return turn;
  }

  private async sendNow(request: (condition: Condition) => Promise<WriteOutcome>): Promise<WriteOutcome> {
    if (this.state === "off") return request({});
    if (this.state === "lost") return { kind: "changed" };
    if (this.state === "unclear")
      return { kind: "in-doubt", reason: "the request before it had no clear answer", unsent: true };
    const outcome = await request({ ifMatch: this.tag });
    this.applyOutcome(outcome);
    return outcome;
  }

  private applyOutcome(outcome: WriteOutcome): void {
    if (outcome.kind === "changed") this.state = "lost";
    else if (outcome.kind === "in-doubt") this.state = "unclear";
    else if (outcome.kind !== "answered") return;
    // An answer that is repeated may carry a tag of any time since.
    else if (outcome.replayed) this.state = "unclear";
    else if (outcome.etag !== null || outcome.success.length > 0) this.setTag(outcome.etag);
  }

  /** The next write goes out under the condition that the map still has this tag; without a strong one, under none. */
  private setTag(etag: string | null): void {
    this.tag = strongEtag(etag);
    this.state = this.tag === null ? "off" : "on";
  }
}
