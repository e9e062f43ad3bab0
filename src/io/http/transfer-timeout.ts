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
  private readonly periodStart: number[] = [];
  private periodBytes = 0;
  private isPaused = false;

  /** @param hasRequestBody whether the request has a body */
  constructor(
    private readonly request: ClientRequest,
    private readonly limits: TransferLimits,
    private readonly hasRequestBody: boolean,
  ) {
    const { connectTimeout } = limits;
    this.timer = setTimeout(() => {
      this.end(`there is no connection within ${formatSeconds(connectTimeout)} (--connect-timeout)`);
    }, connectTimeout);
    request.once("socket", (socket) => {
      // Before certificates are agreed on, nothing is sent.
      if (socket.connecting) socket.once("encrypted" in socket ? "secureConnect" : "connect", () => this.onConnected());
      else this.onConnected();
    });
  }

  /** Counts bytes of a body. */
  onBytes(bytes: number): void {
    this.periodBytes += bytes;
  }

  /** The body of the request is sent. */
  onRequestSent(): void {
    if (this.phase === "sending") this.startPhase("waiting");
  }

  /** The head of the answer is there. */
  onResponse(): void {
    this.isConnected = true;
    if (this.phase !== "over") this.startPhase("receiving");
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

  private onConnected(): void {
    if (this.phase !== "connecting") return;
    this.isConnected = true;
    this.startPhase(this.hasRequestBody ? "sending" : "waiting");
  }

  private startPhase(phase: Phase): void {
    clearTimeout(this.timer);
    this.phase = phase;
    this.periodStart.length = 0;
    this.periodBytes = 0;
    const { timeout } = this.limits;
    this.timer = setTimeout(() => this.check(), phase === "waiting" ? timeout : timeout / checksPerTimeout);
  }

  private check(): void {
    const { timeout } = this.limits;
    if (this.phase === "waiting") this.end(`no answer within ${formatSeconds(timeout)} (--timeout)`);
    else {
      this.timer = setTimeout(() => this.check(), timeout / checksPerTimeout);
      if (!this.isPaused) this.checkRate();
    }
  }

  private checkRate(): void {
    const { timeout, minimumRate } = this.limits;
    this.periodStart.push(this.periodBytes);
    this.periodBytes = 0;
    if (this.periodStart.length < checksPerTimeout) return;
    const carried = this.periodStart.reduce((sum, bytes) => sum + bytes, 0);
    if (carried < Math.max(1, (minimumRate * timeout) / 1000)) this.end(this.tooSlow(carried));
    this.periodStart.shift();
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
    this.failure = { reason, isTransient: true, isUntrusted: false };
    this.request.destroy();
  }
}

const formatSeconds = (milliseconds: number): string => `${milliseconds / 1000} s`;
