/** Ends a request whose server does not answer, or that carries too little for too long. */
import type { ClientRequest } from "node:http";
import type { NetworkSettings } from "../../network-settings.js";
import type { NetworkFailure } from "./network-failure.js";

export type TransferLimits = Pick<NetworkSettings, "connectTimeout" | "timeout" | "minimumRate">;

/** Parts of `timeout` after which it is looked how much was carried. */
const checksPerTimeout = 8;

type Phase = "connecting" | "sending" | "waiting" | "receiving" | "over";

/**
 * A request has a connection within `connectTimeout`, an answer that begins within `timeout` of its last byte, and while
 * a body is on its way the average of `minimumRate` in each stretch of `timeout`; a large body may take as long as it
 * needs.
 */
export class TransferTimeout {
  /** Why the request was ended, after the time that a server may stay silent, or slow; null where it was not. */
  failure: NetworkFailure | null = null;
  /** Whether bytes of the request may have reached the server. */
  isConnected = false;
  private phase: Phase = "connecting";
  private timer: NodeJS.Timeout;
  private readonly carriedIn: number[] = [];
  private carriedNow = 0;
  private isPaused = false;

  /** @param sends whether the request has a body */
  constructor(
    private readonly request: ClientRequest,
    private readonly limits: TransferLimits,
    private readonly sends: boolean,
  ) {
    const { connectTimeout } = limits;
    this.timer = setTimeout(() => {
      this.end(`there is no connection within ${formatSeconds(connectTimeout)} (--connect-timeout)`);
    }, connectTimeout);
    request.once("socket", (socket) => {
      // Before certificates are agreed on, nothing is sent.
      if (socket.connecting) socket.once("encrypted" in socket ? "secureConnect" : "connect", () => this.connected());
      else this.connected();
    });
  }

  /** Counts bytes of a body. */
  carried(bytes: number): void {
    this.carriedNow += bytes;
  }

  /** The body of the request is sent. */
  sent(): void {
    if (this.phase === "sending") this.enter("waiting");
  }

  /** The head of the answer is there. */
  answered(): void {
    this.isConnected = true;
    if (this.phase !== "over") this.enter("receiving");
  }

  /** While what has come is worked on, the server cannot send. */
  pause(): void {
    this.isPaused = true;
  }

  resume(): void {
    this.isPaused = false;
  }

  stop(): void {
    this.phase = "over";
    clearTimeout(this.timer);
  }

  private connected(): void {
    if (this.phase !== "connecting") return;
    this.isConnected = true;
    this.enter(this.sends ? "sending" : "waiting");
  }

  private enter(phase: Phase): void {
    clearTimeout(this.timer);
    this.phase = phase;
    this.carriedIn.length = 0;
    this.carriedNow = 0;
    const { timeout } = this.limits;
    this.timer = setTimeout(() => this.look(), phase === "waiting" ? timeout : timeout / checksPerTimeout);
  }

  private look(): void {
    const { timeout } = this.limits;
    if (this.phase === "waiting") this.end(`no answer within ${formatSeconds(timeout)} (--timeout)`);
    else {
      this.timer = setTimeout(() => this.look(), timeout / checksPerTimeout);
      if (!this.isPaused) this.weigh();
    }
  }

  private weigh(): void {
    const { timeout, minimumRate } = this.limits;
    this.carriedIn.push(this.carriedNow);
    this.carriedNow = 0;
    if (this.carriedIn.length < checksPerTimeout) return;
    const carried = this.carriedIn.reduce((sum, bytes) => sum + bytes, 0);
    if (carried < Math.max(1, (minimumRate * timeout) / 1000)) this.end(this.tooSlow(carried));
    this.carriedIn.shift();
  }

  private tooSlow(carried: number): string {
    const { timeout, minimumRate } = this.limits;
    const does = this.phase === "sending" ? "takes" : "sends";
    if (carried === 0) return `the server ${does} nothing for ${formatSeconds(timeout)} (--timeout)`;
    const rate = Number((carried / (timeout / 1000)).toPrecision(2));
    return `the server ${does} ${rate} bytes a second for ${formatSeconds(timeout)}, fewer than ${minimumRate} (--minimum-rate, --timeout)`;
  }

  private end(reason: string): void {
    this.stop();
    this.failure = { reason, passes: true, untrusted: false };
    this.request.destroy();
  }
}

const formatSeconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
